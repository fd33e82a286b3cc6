#include "conclave/chain/detail/componentwise_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace conclave::chain::detail {
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

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();
constexpr int most_refinements = 20;

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

ComponentwiseSolver::ComponentwiseSolver(const Equations& equations)
    : equations_(equations),
      components_(components(equations.chain(), equations.target())),
      places_(equations.size(), nowhere) {
  for (std::uint32_t place = 0; place < components_.order.size(); ++place) {
    places_[components_.order[place]] = place;
  }
}

DoubleDoubleVector ComponentwiseSolver::start() const {
  std::vector<double> values(equations_.size(), 0.0);
  for (const StateIndex state : components_.order) values[state] = unknown;
  for (std::size_t c = 0; c < components_.count(); ++c) {
    const double value = may_miss(c, values) ? infinity : 0;
    for (const StateIndex state : components_.states(c)) values[state] = value;
  }
  return DoubleDoubleVector(std::move(values));
}

// A component without a way out, or with a way to one that may miss the target.
bool ComponentwiseSolver::may_miss(std::size_t component, const std::vector<double>& values) const {
  bool has_exit = false;
  for (const StateIndex state : components_.states(component)) {
    for (const StateIndex to : equations_.chain().successors(state)) {
      if (std::isnan(values[to])) continue;  // of the component itself
      if (std::isinf(values[to])) return true;
      has_exit = true;
    }
  }
  return !has_exit;
}

void ComponentwiseSolver::solve(std::span<const double> cost, double tolerance,
                                DoubleDoubleVector& x) const {
  x.extend();
  for (std::size_t c = 0; c < components_.count(); ++c) {
    const auto states = components_.states(c);
    if (std::isinf(x[states.front()])) continue;
    if (states.size() == 1) {
      solve_single(states.front(), cost[states.front()], x);
    } else {
      solve_component(c, cost, tolerance, x);
    }
  }
}

// The second step only restores what a double cannot hold.
void ComponentwiseSolver::solve_single(StateIndex state, double cost, DoubleDoubleVector& x) const {
  for (int step = 0; step < 2; ++step) {
    const long double residual = equations_.residual(state, cost, x).value;
    x.add(state, static_cast<double>(residual) * equations_.waiting(state));
  }
}

void ComponentwiseSolver::solve_component(std::size_t component, std::span<const double> cost,
                                          double tolerance, DoubleDoubleVector& x) const {
  const auto states = components_.states(component);
  ComponentSolver solver(local_system(component));
  std::vector<double> residuals(states.size());
  double before = infinity;
  for (int step = 0; step < most_refinements; ++step) {
    double largest = 0;
    for (std::size_t i = 0; i < states.size(); ++i) {
      const auto residual = equations_.residual(states[i], cost[states[i]], x);
      residuals[i] = static_cast<double>(residual.value);
      largest = std::max(largest, residual.bound() / (cost[states[i]] > 0 ? cost[states[i]] : 1));
    }
    if (largest <= tolerance || largest > before / 2) return;
    before = largest;
    const std::vector<double> steps = solver.solve(residuals);
    for (std::size_t i = 0; i < states.size(); ++i) x.add(states[i], steps[i]);
  }
}

LocalSystem ComponentwiseSolver::local_system(std::size_t component) const {
  const std::uint32_t first = components_.starts[component];
  const auto size = static_cast<std::uint32_t>(components_.states(component).size());
  LocalSystem system;
  std::vector<std::pair<std::uint32_t, double>> row;
  for (const StateIndex state : components_.states(component)) {
    const auto successors = equations_.chain().successors(state);
    const auto probabilities = equations_.chain().probabilities(state);
    double exit = 0;
    row.clear();
    for (std::size_t k = 0; k < successors.size(); ++k) {
      if (successors[k] == state) continue;
      const std::uint32_t local = places_[successors[k]] - first;  // wraps where it is outside
      if (local < size) {
        row.emplace_back(local, probabilities[k]);
      } else {
        exit += probabilities[k];
      }
    }
    std::ranges::sort(row);
    for (const auto& [column, value] : row) {
      system.pattern.columns.push_back(column);
      system.values.push_back(value);
    }
    system.end_row(exit);
  }
  return system;
}

}  // namespace conclave::chain::detail
