#include "conclave/chain/hitting_times.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "conclave/chain/components.hpp"
#include "conclave/chain/detail/equations.hpp"
#include "conclave/chain/detail/method_choice.hpp"

namespace conclave::chain {
namespace {

using detail::certified_error;
using detail::DoubleDoubleVector;
using detail::Equations;
using detail::Solution;

// The mean and the second moment must be known better than their difference.
double precise(double tolerance) { return tolerance / 100; }

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
                   const DoubleDoubleVector& mean, const HittingOptions& options,
                   HittingTimes& times) {
  std::vector<double> second_cost(equations.size(), 1.0);
  for (StateIndex state = 0; state < equations.size(); ++state) {
    if (equations.target().contains(state) || std::isinf(mean[state])) continue;
    second_cost[state] = cost[state] * (2 * mean[state] - cost[state]);
  }
  const Solution second =
      detail::solve(equations, second_cost, precise(options.tolerance), options.method);
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

// Where a target may never be reached, a law is followed so far at least, to show that nothing more
// arrives.
constexpr std::uint64_t least_law_steps = 1000;

// `next` becomes the law after one step of the part of `now` whose states satisfy goes_on(state).
void walk_one_step(const MarkovChain& chain, std::span<const double> now, std::span<double> next,
                   const auto& goes_on) {
  std::ranges::fill(next, 0.0);
  const auto size = static_cast<StateIndex>(chain.size());
  for (StateIndex from = 0; from < size; ++from) {
    if (now[from] == 0 || !goes_on(from)) continue;
    const auto successors = chain.successors(from);
    const auto probabilities = chain.probabilities(from);
    for (std::size_t k = 0; k < successors.size(); ++k) {
      next[successors[k]] += now[from] * probabilities[k];
    }
  }
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
      options.variance ? precise(options.tolerance) : options.tolerance - 2 * detail::rounding;
  Solution solution = detail::solve(equations, cost, tolerance, options.method);
  HittingTimes times;
  times.residual = solution.certificate.residual;
  times.relative_error = certified_error(equations, cost, solution);
  require(times.relative_error, options.tolerance);
  if (options.variance) {
    add_variances(equations, cost, solution.x, options, times);
  }
  times.methods = std::move(solution.uses);
  times.mean = std::move(solution.x).release();
  times.infinite = static_cast<std::uint64_t>(
      std::ranges::count_if(times.mean, [](double mean) { return std::isinf(mean); }));
  return times;
}

std::vector<double> hitting_distribution(const MarkovChain& chain, const StateSet& target,
                                         StateIndex from, std::size_t last_step) {
  std::vector<double> law(last_step + 1, 0.0);
  std::vector<double> now(chain.size(), 0.0);
  std::vector<double> next(chain.size());
  now[from] = 1;
  for (std::size_t step = 0; step <= last_step; ++step) {
    walk_one_step(chain, now, next, [&](StateIndex state) {
      const bool is_there = target.contains(state);
      if (is_there) law[step] += now[state];
      return !is_there;
    });
    now.swap(next);
  }
  return law;
}

std::vector<double> hitting_law(const MarkovChain& chain, const StateSet& target,
                                std::vector<double> start, const LawLimits& limits,
                                const std::function<void(std::uint64_t step)>& before_step) {
  const StateSet coming = can_reach(chain, target);
  std::vector<double> now = std::move(start);
  std::vector<double> next(chain.size());
  std::vector<double> law;
  double arrived = 0;
  for (std::uint64_t step = 0; step <= limits.last_step; ++step) {
    before_step(step);
    double still_coming = 0;
    walk_one_step(chain, now, next, [&](StateIndex from) {
      if (!coming.contains(from)) return false;
      const bool is_there = target.contains(from);
      (is_there ? arrived : still_coming) += now[from];
      return !is_there;
    });
    law.push_back(std::min(arrived, 1.0));
    if (1 - arrived <= limits.tail) break;
    if (still_coming <= limits.tail && limits.tail > 0 && step >= least_law_steps) break;
    std::swap(now, next);
  }
  return law;
}

}  // namespace conclave::chain
