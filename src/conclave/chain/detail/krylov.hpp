// BiCGSTAB (van der Vorst 1992) with any preconditioner, and the sums over vectors that iterations
// need: four lanes that do not wait for each other, always in the same order, so that results have
// the same bits on every machine.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <span>

#include "conclave/chain/detail/elimination.hpp"

namespace conclave::chain::detail {

template <class Combine>
std::array<double, 4> folded(std::size_t size, Combine combine) {
  std::array<double, 4> lanes{};
  std::size_t i = 0;
  for (; i + lanes.size() <= size; i += lanes.size()) {
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      lanes[lane] = combine(lanes[lane], i + lane);
    }
  }
  for (; i < size; ++i) lanes[0] = combine(lanes[0], i);
  return lanes;
}

// The largest absolute value; what is not a number does not count.
inline double largest(std::span<const double> v) {
  return std::ranges::max(
      folded(v.size(), [&](double most, std::size_t i) { return std::max(most, std::abs(v[i])); }));
}

inline double dot(std::span<const double> a, std::span<const double> b) {
  const auto sums = folded(a.size(), [&](double sum, std::size_t i) { return sum + a[i] * b[i]; });
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// y += factor * x.
inline void add(std::span<double> y, double factor, std::span<const double> x) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += factor * x[i];
}

struct KrylovLimits {
  double gain = 1e-8;  // the residual to reach, relative to the right-hand side
  // Two products and two preconditioning steps each. Given up after half of them if a quarter of
  // the digits is not yet gained.
  int most_iterations = 100;
};

// Overwrites a right-hand side by an approximate solution.
using Preconditioner = std::function<void(std::span<double>)>;

// Writes into `x` what it found; true if the largest residual fell by the gain, or as far as
// rounding allows.
bool bicgstab(const LocalSystem& system, const Preconditioner& preconditioner,
              std::span<const double> right, std::span<double> x, const KrylovLimits& limits);

}  // namespace conclave::chain::detail
