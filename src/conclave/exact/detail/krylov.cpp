#include "conclave/exact/detail/krylov.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "conclave/exact/detail/unknowns.hpp"

namespace conclave::exact {
namespace {

using Vector = std::vector<double>;

// A residual cannot be smaller than this relative to the solution, for its rounding.
constexpr double attainable = 32 * rounding;

// Not a number if one of them is none.
double largest(const Vector& v) {
  return std::accumulate(v.begin(), v.end(), 0.0, [](double most, double value) {
    return std::abs(value) <= most ? most : std::abs(value) + 0 * most;
  });
}

double dot(const Vector& a, const Vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// y += factor * x.
void add(Vector& y, double factor, const Vector& x) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += factor * x[i];
}

class BiCgStab {
 public:
  BiCgStab(const LocalSystem& system, const Factors& preconditioner, std::span<const double> right)
      : system_(system),
        preconditioner_(preconditioner),
        zero_(right.size()),
        x_(right.size()),
        residual_(right.begin(), right.end()),
        shadow_(residual_),
        direction_(residual_),
        image_(right.size()),
        second_image_(right.size()),
        rho_(dot(shadow_, residual_)) {}

  void iterate() {
    Vector step = preconditioned(direction_);
    multiply(step, image_);
    const double alpha = rho_ / dot(shadow_, image_);
    add(x_, alpha, step);
    add(residual_, -alpha, image_);
    step = preconditioned(residual_);
    multiply(step, second_image_);
    const double omega = dot(second_image_, residual_) / dot(second_image_, second_image_);
    add(x_, omega, step);
    add(residual_, -omega, second_image_);
    const double before = std::exchange(rho_, dot(shadow_, residual_));
    turn(rho_ / before * alpha / omega, omega);
  }

  const Vector& x() const { return x_; }
  double residual() const { return largest(residual_); }

 private:
  Vector preconditioned(Vector v) const {
    preconditioner_.solve(v);
    return v;
  }

  void multiply(const Vector& v, Vector& result) const {
    system_.residual(v, zero_, result);
    for (double& value : result) value = -value;
  }

  void turn(double beta, double omega) {
    for (std::size_t i = 0; i < direction_.size(); ++i) {
      direction_[i] = residual_[i] + beta * (direction_[i] - omega * image_[i]);
    }
  }

  const LocalSystem& system_;
  const Factors& preconditioner_;
  Vector zero_, x_, residual_, shadow_, direction_, image_, second_image_;
  double rho_;
};

}  // namespace

bool bicgstab(const LocalSystem& system, const Factors& preconditioner,
              std::span<const double> right, std::span<double> x, const KrylovLimits& limits) {
  BiCgStab method(system, preconditioner, right);
  double best = method.residual();
  const double goal = limits.gain * best;
  bool is_done = best == 0;
  for (int k = 0; k < limits.most_iterations && !is_done; ++k) {
    method.iterate();
    const double residual = method.residual();
    if (!std::isfinite(residual)) return false;
    if (residual >= best) continue;
    best = residual;
    std::ranges::copy(method.x(), x.begin());
    is_done = best <= std::max(goal, attainable * largest(method.x()));
  }
  return is_done;
}

}  // namespace conclave::exact
