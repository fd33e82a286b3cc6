// Sums over vectors of doubles, four at a time, which do not wait for each other; always in the
// same order, so that results have the same bits.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>

namespace conclave::chain {

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

}  // namespace conclave::chain
