#include "conclave/exact/detail/component_solver.hpp"

#include <utility>

namespace conclave::exact {
namespace {

// Multiplications; a core does some 10^9 in a second.
constexpr double little_work_per_entry = 30;
constexpr double medium_work = 3e8;
constexpr double most_work = 1e11;
constexpr std::size_t small_component = 5000;
constexpr KrylovLimits short_attempt{.gain = 1e-8, .most_iterations = 30};
constexpr KrylovLimits long_attempt{.gain = 1e-8, .most_iterations = 3000};

}  // namespace

ComponentSolver::ComponentSolver(LocalSystem system) : system_(std::move(system)) {
  const double little = little_work_per_entry * static_cast<double>(system_.values.size());
  if (eliminate(system_, little)) return;
  if (system_.size() <= small_component && eliminate_in_good_order(medium_work)) return;
  incomplete_.emplace(system_, system_.pattern, Factors::Extent::incomplete);
}

bool ComponentSolver::eliminate(const LocalSystem& system, double limit) {
  auto pattern = filled_pattern(system.pattern, limit);
  if (pattern) factors_.emplace(system, *std::move(pattern), Factors::Extent::complete);
  return factors_.has_value();
}

bool ComponentSolver::eliminate_in_good_order(double limit) {
  if (order_.empty()) order_ = elimination_order(system_);
  return eliminate(reordered(system_, order_), limit);
}

std::vector<double> ComponentSolver::solve(std::span<const double> right) {
  if (factors_) return by_factors(right);
  std::vector<double> x(right.size());
  if (!multigrid_ && iterate(right, x, short_attempt)) return x;
  if (!everything_tried_ && !multigrid_) multigrid_ = Multigrid::of(system_);
  if (multigrid_ && multigrid_->solve(system_, right, x)) return x;
  if (!everything_tried_ && eliminate_in_good_order(most_work)) return by_factors(right);
  everything_tried_ = true;
  iterate(right, x, long_attempt);
  return x;
}

bool ComponentSolver::iterate(std::span<const double> right, std::span<double> x,
                              const KrylovLimits& limits) const {
  const auto precondition = [this](std::span<double> v) { incomplete_->solve(v); };
  return bicgstab(system_, precondition, right, x, limits);
}

std::vector<double> ComponentSolver::by_factors(std::span<const double> right) const {
  std::vector<double> x(right.begin(), right.end());
  if (order_.empty()) {
    factors_->solve(x);
    return x;
  }
  std::vector<double> permuted(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) permuted[i] = right[order_[i]];
  factors_->solve(permuted);
  for (std::size_t i = 0; i < x.size(); ++i) x[order_[i]] = permuted[i];
  return x;
}

}  // namespace conclave::exact
