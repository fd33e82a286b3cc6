#include "conclave/chain/detail/krylov.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "conclave/chain/detail/equations.hpp"

namespace conclave::chain::detail {
namespace {

using Vector = std::vector<double>;

// A sum, or another fold, in four lanes that do not wait for each other.
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
double largest(std::span<const double> v) {
  return std::ranges::max(
      folded(v.size(), [&](double most, std::size_t i) { return std::max(most, std::abs(v[i])); }));
}

double dot(std::span<const double> a, std::span<const double> b) {
  const auto sums = folded(a.size(), [&](double sum, std::size_t i) { return sum + a[i] * b[i]; });
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// y += factor * x.
void add(std::span<double> y, double factor, std::span<const double> x) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += factor * x[i];
}

// A residual cannot be smaller than this relative to the solution, for its rounding.
constexpr double attainable = 32 * rounding;

class BiCgStab {
 public:
  BiCgStab(const LocalSystem& system, const Preconditioner& preconditioner,
           std::span<const double> right)
      : system_(system),
        preconditioner_(preconditioner),
        x_(right.size()),
        residual_(right.begin(), right.end()),
        shadow_(residual_),
        direction_(residual_),
        image_(right.size()),
        second_image_(right.size()),
        rho_(dot(shadow_, residual_)) {}

  void iterate() {
    Vector step = preconditioned(direction_);
    system_.multiply(step, image_);
    const double alpha = rho_ / dot(shadow_, image_);
    add(x_, alpha, step);
    add(residual_, -alpha, image_);
    step = preconditioned(residual_);
    system_.multiply(step, second_image_);
    const double size = dot(second_image_, second_image_);  // 0 if the first half step was exact
    const double omega = size > 0 ? dot(second_image_, residual_) / size : 0;
    add(x_, omega, step);
    add(residual_, -omega, second_image_);
    const double before = std::exchange(rho_, dot(shadow_, residual_));
    turn(rho_ / before * alpha / omega, omega);
  }

  const Vector& x() const { return x_; }
  double residual() const { return largest(residual_); }
  bool is_broken() const { return !std::isfinite(rho_); }

 private:
  Vector preconditioned(Vector v) const {
    preconditioner_(v);
    return v;
  }

  void turn(double beta, double omega) {
    for (std::size_t i = 0; i < direction_.size(); ++i) {
      direction_[i] = residual_[i] + beta * (direction_[i] - omega * image_[i]);
    }
  }

  const LocalSystem& system_;
  const Preconditioner& preconditioner_;
  Vector x_, residual_, shadow_, direction_, image_, second_image_;
  double rho_;
};

}  // namespace

bool bicgstab(const LocalSystem& system, const Preconditioner& preconditioner,
              std::span<const double> right, std::span<double> x, const KrylovLimits& limits) {
  BiCgStab method(system, preconditioner, right);
  double best = method.residual();
  const double goal = limits.gain * best;
  const double half_way = std::pow(limits.gain, 0.25) * best;
  bool is_done = best == 0;
  for (int k = 0; k < limits.most_iterations && !is_done; ++k) {
    if (k == limits.most_iterations / 2 && best > half_way) return false;
    method.iterate();
    if (method.is_broken()) return false;
    const double residual = method.residual();
    if (residual >= best) continue;
    best = residual;
    std::ranges::copy(method.x(), x.begin());
    is_done = best <= std::max(goal, attainable * largest(method.x()));
  }
  return is_done;
}

}  // namespace conclave::chain::detail
