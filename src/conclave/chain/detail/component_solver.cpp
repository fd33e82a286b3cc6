#include "conclave/chain/detail/component_solver.hpp"

#include <algorithm>
#include <utility>

namespace conclave::chain {
namespace {

// Multiplications; a core does some 10^9 in a second, within dense matrices more.
constexpr double little_work_per_entry = 30;
constexpr double medium_work = 3e8;
constexpr double much_work = 5e10;
constexpr double most_work = 5e11;
constexpr double most_entries = 2.5e8;  // numbers to be kept, 2 GB
constexpr double work_of_long_attempt = 3e10;
constexpr std::size_t small_component = 5000;
constexpr std::size_t orderable_component = 100'000;  // finding an order may take long beyond
constexpr int most_long_attempts = 3;
constexpr KrylovLimits short_attempt{.gain = 1e-8, .most_iterations = 30};

// Two products and two preconditioning steps per iteration.
KrylovLimits long_attempt(const LocalSystem& system) {
  const double work = 10 * static_cast<double>(system.values.size() + system.size());
  return {.gain = 1e-8,
          .most_iterations = static_cast<int>(std::min(3000.0, work_of_long_attempt / work))};
}

}  // namespace

ComponentSolver::ComponentSolver(LocalSystem system) : system_(std::move(system)) {
  const double little = little_work_per_entry * static_cast<double>(system_.values.size());
  if (eliminate_as_given(little)) return;
  if (system_.size() <= small_component && eliminate_in_good_order(medium_work)) return;
  incomplete_.emplace(system_, system_.pattern, Factors::Extent::incomplete);
}

bool ComponentSolver::eliminate_as_given(double limit) {
  auto pattern = filled_pattern(system_.pattern, limit);
  if (pattern) factors_.emplace(system_, *std::move(pattern), Factors::Extent::complete);
  return factors_.has_value();
}

bool ComponentSolver::eliminate_in_good_order(double limit) {
  if (!plan_) plan_ = planned_fronts(system_.pattern, elimination_order(system_));
  if (plan_->work > limit || plan_->entries > most_entries) return false;
  fronts_.emplace(system_, *std::move(plan_));
  return true;
}

std::vector<double> ComponentSolver::solve(std::span<const double> right) {
  std::vector<double> x(right.begin(), right.end());
  if (factors_) {
    factors_->solve(x);
    return x;
  }
  if (fronts_) return fronts_->solve(right);
  std::ranges::fill(x, 0.0);
  if (method_ == Method::simple && iterate(right, x, short_attempt)) return x;
  do {
    if (fronts_) return fronts_->solve(right);
    if (multigrid_ && multigrid_->solve(system_, right, x)) return x;
  } while (take_next_method());
  if (long_attempts_++ < most_long_attempts) iterate(right, x, long_attempt(system_));
  return x;
}

// Where groups of neighbours have few neighbours themselves, an order of elimination is soon found.
bool ComponentSolver::take_next_method() {
  switch (method_) {
    case Method::simple:
      multigrid_ = Multigrid::of_clusters(system_);
      method_ = Method::clusters;
      return true;
    case Method::clusters:
      multigrid_ = Multigrid::of_neighbours(system_);
      if (multigrid_ || system_.size() <= orderable_component) eliminate_in_good_order(much_work);
      method_ = Method::neighbours;
      return true;
    case Method::neighbours:
      if (multigrid_) eliminate_in_good_order(most_work);
      multigrid_.reset();
      method_ = Method::none_left;
      return true;
    case Method::none_left:
      return false;
  }
  return false;
}

bool ComponentSolver::iterate(std::span<const double> right, std::span<double> x,
                              const KrylovLimits& limits) const {
  const auto precondition = [this](std::span<double> v) { incomplete_->solve(v); };
  return bicgstab(system_, precondition, right, x, limits);
}

}  // namespace conclave::chain
