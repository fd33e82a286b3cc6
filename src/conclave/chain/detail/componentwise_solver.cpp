// Solves the equations one strongly connected component after the other, each after those it leads
// to: for chains of any structure. A component of one state takes one division; a larger one is a
// system of its own, in which the values of the components behind it are known. Also finds the
// states from which the target can be missed.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/chain/detail/method_choice.hpp"

namespace conclave::chain::detail {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
constexpr int most_refinements = 20;

// Which methods were used on how many states.
class Tally {
 public:
  void add(Method method, std::string_view reason, std::size_t states) {
    auto found = std::ranges::find(uses_, method, &MethodUse::method);
    if (found == uses_.end()) {
      found = uses_.insert(found, {method, 0, std::string()});
      largest_.push_back(0);
    }
    found->states += states;
    std::size_t& largest = largest_[static_cast<std::size_t>(found - uses_.begin())];
    if (states > largest) found->reason = reason;
    largest = std::max(largest, states);
  }

  std::vector<MethodUse> uses() && { return std::move(uses_); }

 private:
  std::vector<MethodUse> uses_;
  std::vector<std::size_t> largest_;  // component, per use
};

void require(Method method, const std::vector<MethodUse>& uses) {
  if (method == Method::automatic || uses.empty()) return;
  if (std::ranges::find(uses, method, &MethodUse::method) != uses.end()) return;
  throw Error(fmt::format("the method {} applies to no component of this chain; auto takes {}",
                          name_of(method), name_of(main_use(uses).method)));
}

// Whether an expectation has left the range of doubles; that is not an infinite one.
bool overflows(const DoubleDoubleVector& start, const DoubleDoubleVector& x) {
  for (StateIndex state = 0; state < x.size(); ++state) {
    if (!std::isinf(start[state]) && !std::isfinite(x[state])) return true;
  }
  return false;
}

}  // namespace

ComponentwiseSolver::ComponentwiseSolver(const Equations& equations, Components components)
    : equations_(equations),
      components_(std::move(components)),
      places_(places_of(components_.order, equations.size())) {}

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

Solution ComponentwiseSolver::solve(std::span<const double> cost, double tolerance,
                                    Method method) const {
  DoubleDoubleVector x = start();
  x.extend();
  Tally tally;
  for (std::size_t c = 0; c < components_.count(); ++c) {
    const auto states = components_.states(c);
    if (std::isinf(x[states.front()])) continue;
    if (states.size() == 1) {
      solve_single(states.front(), cost[states.front()], x);
      tally.add(Method::elimination, "single states need one division each", 1);
    } else {
      ComponentSolver solver(
          local_system(equations_.chain(), states, places_, components_.starts[c]), method);
      refine(c, cost, tolerance, solver, x);
      tally.add(solver.method(), solver.reason(), states.size());
    }
  }
  const Certificate certificate =
      overflows(start(), x) ? Certificate{infinity, infinity} : certify(equations_, cost, x);
  Solution solution{std::move(x), certificate, std::move(tally).uses()};
  require(method, solution.uses);
  return solution;
}

// The second step only restores what a double cannot hold.
void ComponentwiseSolver::solve_single(StateIndex state, double cost, DoubleDoubleVector& x) const {
  for (int step = 0; step < 2; ++step) {
    const long double residual = equations_.residual(state, cost, x).value;
    x.add(state, static_cast<double>(residual) * equations_.waiting(state));
  }
}

void ComponentwiseSolver::refine(std::size_t component, std::span<const double> cost,
                                 double tolerance, ComponentSolver& solver,
                                 DoubleDoubleVector& x) const {
  const auto states = components_.states(component);
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

}  // namespace conclave::chain::detail
