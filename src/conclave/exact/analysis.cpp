#include "conclave/exact/analysis.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "conclave/base/check.hpp"
#include "conclave/exact/configuration_chain.hpp"

namespace conclave::exact {

StateSet outside(const StateSet& set) {
  StateSet others(set.size());
  for (StateIndex state = 0; state < set.size(); ++state) {
    if (!set.contains(state)) others.insert(state);
  }
  return others;
}

std::optional<StateIndex> first_of(const StateSet& set) {
  for (StateIndex state = 0; state < set.size(); ++state) {
    if (set.contains(state)) return state;
  }
  return std::nullopt;
}

std::optional<StateIndex> first_difference(const StateSet& a, const StateSet& b) {
  for (StateIndex state = 0; state < a.size(); ++state) {
    if (a.contains(state) != b.contains(state)) return state;
  }
  return std::nullopt;
}

std::optional<std::pair<StateIndex, StateIndex>> way_out(const MarkovChain& chain,
                                                         const StateSet& set) {
  for (StateIndex from = 0; from < chain.size(); ++from) {
    if (!set.contains(from)) continue;
    for (const StateIndex to : chain.successors(from)) {
      if (!set.contains(to)) return std::pair{from, to};
    }
  }
  return std::nullopt;
}

std::vector<StateIndex> path_to(const MarkovChain& chain, StateIndex seeds, StateIndex to) {
  std::vector<StateIndex> path{to};
  while (path.back() >= seeds) {
    StateIndex from = 0;  // the first that leads there is the one that the search came from
    while (!std::ranges::binary_search(chain.successors(from), path.back())) ++from;
    CONCLAVE_CHECK(from < path.back());
    path.push_back(from);
  }
  std::ranges::reverse(path);
  return path;
}

// Equal expectations may differ by rounding, so the first that is as good as the largest is taken.
std::optional<StateIndex> slowest_in(const StateSet& set, std::span<const double> means) {
  constexpr double as_good_as = 1 - 1e-10;
  double largest = -1;
  for (StateIndex state = 0; state < set.size(); ++state) {
    if (set.contains(state)) largest = std::max(largest, means[state]);
  }
  for (StateIndex state = 0; state < set.size(); ++state) {
    if (set.contains(state) && means[state] >= largest * as_good_as) return state;
  }
  return std::nullopt;
}

std::vector<double> probability_of_reaching(const MarkovChain& chain, const StateSet& target) {
  const StateSet reaching = can_reach(chain, target);
  StateSet end = target;
  std::vector<double> costs(chain.size(), 1.0);  // of a step, and of stepping into the target
  for (StateIndex from = 0; from < chain.size(); ++from) {
    if (!reaching.contains(from)) end.insert(from);
    const auto successors = chain.successors(from);
    for (std::size_t i = 0; i < successors.size(); ++i) {
      if (target.contains(successors[i])) costs[from] += chain.probabilities(from)[i];
    }
  }
  // The difference of two sums of positive costs, because only these have certified sums.
  const std::vector<double> steps = chain::hitting_times(chain, end).mean;
  std::vector<double> reached = chain::hitting_times(chain, end, {.costs = costs}).mean;
  for (StateIndex state = 0; state < chain.size(); ++state) {
    reached[state] = target.contains(state) ? 1 : reached[state] - steps[state];
  }
  return reached;
}

TimeReport time_from(const MarkovChain& chain, const StateSet& target, const HittingTimes& times,
                     std::span<const double> start) {
  TimeReport report;
  double second_moment = 0;
  for (StateIndex state = 0; state < start.size(); ++state) {
    if (start[state] == 0) continue;
    const double mean = times.mean[state];
    report.mean += start[state] * mean;
    if (!times.variance.empty()) {
      second_moment += start[state] * (times.variance[state] + mean * mean);
    }
  }
  if (!std::isfinite(report.mean)) {
    const std::vector<double> reached = probability_of_reaching(chain, target);
    report.probability = 0;
    for (StateIndex state = 0; state < start.size(); ++state) {
      report.probability += start[state] * reached[state];
    }
    report.variance = std::numeric_limits<double>::infinity();
    return report;
  }
  report.variance = std::max(0.0, second_moment - report.mean * report.mean);
  return report;
}

}  // namespace conclave::exact
