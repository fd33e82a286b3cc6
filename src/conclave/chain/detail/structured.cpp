#include "conclave/chain/detail/structured.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "conclave/chain/detail/component_solver.hpp"

namespace conclave::chain {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();
constexpr int most_refinements = 20;

}  // namespace

Structured::Structured(const Equations& equations)
    : equations_(equations),
      components_(components(equations.chain(), equations.target())),
      places_(equations.size(), nowhere) {
  for (std::uint32_t place = 0; place < components_.order.size(); ++place) {
    places_[components_.order[place]] = place;
  }
}

Unknowns Structured::start() const {
  std::vector<double> values(equations_.size(), 0.0);
  for (const StateIndex state : components_.order) values[state] = unknown;
  for (std::size_t c = 0; c < components_.count(); ++c) {
    const double value = may_miss(c, values) ? infinity : 0;
    for (const StateIndex state : components_.states(c)) values[state] = value;
  }
  return Unknowns(std::move(values));
}

// A component without a way out, or with a way to one that may miss the target.
bool Structured::may_miss(std::size_t component, const std::vector<double>& values) const {
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

void Structured::solve(std::span<const double> cost, double tolerance, Unknowns& x) const {
  x.continue_all();
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
void Structured::solve_single(StateIndex state, double cost, Unknowns& x) const {
  for (int step = 0; step < 2; ++step) {
    const long double residual = equations_.residual(state, cost, x).value;
    x.add(state, static_cast<double>(residual) * equations_.waiting(state));
  }
}

void Structured::solve_component(std::size_t component, std::span<const double> cost,
                                 double tolerance, Unknowns& x) const {
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

LocalSystem Structured::local_system(std::size_t component) const {
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

}  // namespace conclave::chain
