#include "conclave/chain/hitting_times.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>

#include "conclave/base/check.hpp"
#include "conclave/chain/detail/componentwise_solver.hpp"
#include "conclave/chain/detail/equations.hpp"
#include "conclave/chain/detail/multiprecision.hpp"
#include "conclave/chain/detail/sweeps.hpp"

namespace conclave::chain {
namespace {

using detail::Certificate;
using detail::certify;
using detail::ComponentwiseSolver;
using detail::DoubleDoubleVector;
using detail::Equations;
using detail::rounding;

constexpr double infinity = std::numeric_limits<double>::infinity();

// Below, looking at the structure first costs nothing.
constexpr std::size_t large_chain = 50'000;

// What the mean and the second moment must be known to, so that their difference is useful.
double precise(double tolerance) { return tolerance / 100; }

struct Solution {
  DoubleDoubleVector x;
  Certificate certificate;
};

// Whether an expectation has left the range of doubles; that is not an infinite one.
bool overflows(const DoubleDoubleVector& start, const DoubleDoubleVector& x) {
  for (StateIndex state = 0; state < x.size(); ++state) {
    if (!std::isinf(start[state]) && !std::isfinite(x[state])) return true;
  }
  return false;
}

Solution solve(const Equations& equations, std::span<const double> cost, double tolerance) {
  DoubleDoubleVector x(std::vector<double>(equations.size(), 0.0));
  if (equations.size() >= large_chain && std::ranges::min(cost) > 0) {
    if (const auto certificate = detail::sweep(equations, cost, tolerance, x)) {
      return {std::move(x), *certificate};
    }
  }
  const ComponentwiseSolver structured(equations);
  const DoubleDoubleVector start = structured.start();
  x = start;
  structured.solve(cost, tolerance / 4, x);
  const Certificate certificate =
      overflows(start, x) ? Certificate{infinity, infinity} : certify(equations, cost, x);
  return {std::move(x), certificate};
}

// Whether nothing can be paid from this state, given that this is so for all others without value.
bool costs_nothing(const Equations& equations, std::span<const double> cost,
                   const DoubleDoubleVector& x, StateIndex state) {
  return cost[state] == 0 && std::ranges::all_of(equations.chain().successors(state),
                                                 [&](StateIndex to) { return x[to] == 0; });
}

Solution certified(const Equations& equations, std::span<const double> cost, double tolerance);

// Where some steps cost nothing, residuals cannot be compared with costs. But they are at most R
// times those of the expected number of steps, so the errors are at most R times that number.
double error_by_steps(const Equations& equations, std::span<const double> cost,
                      const Solution& solution) {
  if (std::isinf(solution.certificate.residual)) return infinity;
  const std::vector<double> ones(equations.size(), 1.0);
  const Solution steps = certified(equations, ones, 1e-3);
  if (!(steps.certificate.relative_error < 0.5)) return infinity;
  double largest = 0;
  for (StateIndex state = 0; state < equations.size(); ++state) {
    const double value = solution.x[state];
    if (equations.target().contains(state) || std::isinf(value)) continue;
    if (value == 0 && costs_nothing(equations, cost, solution.x, state)) continue;
    largest = std::max(largest, steps.x[state] / std::abs(value));
  }
  const double error = 2 * largest * solution.certificate.residual;  // relative to what was found
  return error < 0.5 ? error / (1 - error) : infinity;
}

// Of the values rounded to doubles.
double certified_error(const Equations& equations, std::span<const double> cost,
                       const Solution& solution) {
  double error = solution.certificate.relative_error;
  if (std::isinf(error) && std::ranges::min(cost) == 0) {
    error = error_by_steps(equations, cost, solution);
  }
  return (error + rounding) * (1 + 1e-6);  // for the product of both and for the last operations
}

// Slow chains whose equations doubles cannot hold are solved with more digits.
Solution certified(const Equations& equations, std::span<const double> cost, double tolerance) {
  Solution solution = solve(equations, cost, tolerance);
  if (certified_error(equations, cost, solution) <= tolerance) return solution;
  DoubleDoubleVector x = ComponentwiseSolver(equations).start();
  if (const auto certificate = detail::solve_in_multiprecision(equations, cost, solution.x, x)) {
    return {std::move(x), *certificate};
  }
  return solution;
}

void require(double error, double tolerance) {
  if (error <= tolerance) return;
  if (std::isinf(error)) {
    throw std::runtime_error(
        "nothing could be certified: some expectations are too large for doubles, or the costs of "
        "steps too different");
  }
  throw std::runtime_error(fmt::format(
      "the expectations could be certified to a relative error of {:.2g} only, not {:.2g}", error,
      tolerance));
}

// With T the remaining cost after a step of cost c, E (c + T)^2 = E T^2 + 2 c E T + c^2, and
// E T = mean - c: the second moments are expected costs again, of 2 c mean - c^2 per step.
void add_variances(const Equations& equations, std::span<const double> cost,
                   const DoubleDoubleVector& mean, double tolerance, HittingTimes& times) {
  std::vector<double> second_cost(equations.size(), 1.0);
  for (StateIndex state = 0; state < equations.size(); ++state) {
    if (equations.target().contains(state) || std::isinf(mean[state])) continue;
    second_cost[state] = cost[state] * (2 * mean[state] - cost[state]);
  }
  const Solution second = certified(equations, second_cost, precise(tolerance));
  times.variance_error = certified_error(equations, second_cost, second) + 4 * times.relative_error;
  times.variance.resize(equations.size());
  for (StateIndex state = 0; state < equations.size(); ++state) {
    const long double square = mean.value(state) * mean.value(state);
    times.variance[state] =
        std::isinf(mean[state]) ? mean[state] : static_cast<double>(second.x.value(state) - square);
  }
}

// Files give no cost to the target, where it does not matter; only elsewhere is 0 special.
std::vector<double> costs_of_steps(const Equations& equations, std::span<const double> given) {
  std::vector<double> cost(given.begin(), given.end());
  if (cost.empty()) cost.assign(equations.size(), 1.0);
  for (StateIndex state = 0; state < equations.size(); ++state) {
    if (equations.target().contains(state)) cost[state] = 1;
  }
  return cost;
}

}  // namespace

StateIndex HittingTimes::slowest() const {
  StateIndex best = 0;
  for (StateIndex state = 0; state < mean.size(); ++state) {
    if (!std::isinf(mean[state]) && (std::isinf(mean[best]) || mean[state] > mean[best])) {
      best = state;
    }
  }
  return best;
}

HittingTimes hitting_times(const MarkovChain& chain, const StateSet& target,
                           const HittingOptions& options) {
  const Equations equations(chain, target);
  const std::vector<double> cost = costs_of_steps(equations, options.costs);
  const double tolerance =
      options.variance ? precise(options.tolerance) : options.tolerance - 2 * rounding;
  Solution solution = certified(equations, cost, tolerance);
  HittingTimes times;
  times.residual = solution.certificate.residual;
  times.relative_error = certified_error(equations, cost, solution);
  require(times.relative_error, options.tolerance);
  if (options.variance) {
    add_variances(equations, cost, solution.x, options.tolerance, times);
  }
  times.mean = std::move(solution.x).release();
  times.infinite = static_cast<std::uint64_t>(
      std::ranges::count_if(times.mean, [](double mean) { return std::isinf(mean); }));
  return times;
}

}  // namespace conclave::chain
