#include "conclave/exact/reachable_bound.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "conclave/exact/configuration_index.hpp"

namespace conclave::exact {
namespace {

// The states of a few agents. On the complete graph they are sorted, since only the census counts.
using Group = std::vector<StateNumber>;

constexpr std::size_t most_configurations = 32768;

// All that a group can become if its agents interact only with each other, in the order in which
// it is found, the group itself first. Between neighbours on a graph, the first is always the
// initiator.
std::vector<Group> reachable_groups(PairOutcomes& pairs, const Group& start, bool is_complete) {
  std::set<Group> known{start};
  std::vector<Group> found{start};
  const auto take = [&](Group group) {
    if (is_complete) std::ranges::sort(group);
    if (found.size() == most_configurations || !known.insert(group).second) return;
    found.push_back(std::move(group));
  };
  const auto interact = [&](const Group& group, std::size_t u, std::size_t v) {
    for (const PairOutcome& outcome : pairs.outcomes(group[u], group[v])) {
      Group after = group;
      after[u] = outcome.u;
      after[v] = outcome.v;
      take(std::move(after));
    }
  };
  for (std::size_t next = 0; next < found.size(); ++next) {
    const Group group = found[next];
    for (std::size_t u = 0; u < group.size(); ++u) {
      for (std::size_t v = 0; v < group.size(); ++v) {
        if (u != v && (is_complete || u < v)) interact(group, u, v);
      }
    }
  }
  return found;
}

// How many of the groups have a state that does not occur in those before them.
std::size_t count_independent(const std::vector<Group>& groups) {
  std::set<StateNumber> seen;
  return static_cast<std::size_t>(std::ranges::count_if(groups, [&](const Group& group) {
    const std::size_t before = seen.size();
    seen.insert(group.begin(), group.end());
    return seen.size() > before;
  }));
}

// The ways to divide the agents of `groups` groups of this size into such groups; infinite if that
// is beyond a double.
double count_divisions(std::size_t groups, std::size_t size) {
  double ways = 1;
  for (std::size_t group = 1; group <= groups; ++group) {
    // The first agent that is left chooses the others of its group.
    double rest = static_cast<double>(group * size - 1);
    for (std::size_t i = 1; i < size; ++i, rest -= 1) ways *= rest / static_cast<double>(i);
  }
  return ways;
}

// At most the censuses of this many groups, each in one of these configurations.
double count_censuses(std::size_t groups, const std::vector<Group>& configurations) {
  const std::size_t independent = count_independent(configurations);
  const double all = count_multisets(groups, static_cast<double>(configurations.size()));
  const double divisions = count_divisions(groups, configurations.front().size());
  const double by_divisions = std::isfinite(divisions) ? all / divisions : 1;
  return std::max(by_divisions, count_multisets(groups, static_cast<double>(independent)));
}

// With groups of this size: the kind of group that there are most configurations of alone.
double on_complete_graph(PairOutcomes& pairs, const Group& sorted_start, std::size_t size) {
  std::map<Group, std::size_t> kinds;
  for (std::size_t i = 0; i + size <= sorted_start.size(); i += size) {
    const auto begin = sorted_start.begin() + static_cast<std::ptrdiff_t>(i);
    ++kinds[Group(begin, begin + static_cast<std::ptrdiff_t>(size))];
  }
  double most = 1;
  for (const auto& [group, count] : kinds) {
    most = std::max(most, count_censuses(count, reachable_groups(pairs, group, true)));
  }
  return most;
}

// With pairs of neighbours, each agent in at most one pair.
double on_graph(const Network& network, PairOutcomes& pairs, std::span<const StateNumber> start) {
  std::vector<bool> is_taken(start.size(), false);
  std::map<Group, std::size_t> kinds;
  for (const auto& [u, v] : network.arcs()) {
    if (u == v || is_taken[u] || is_taken[v]) continue;
    is_taken[u] = is_taken[v] = true;
    ++kinds[{start[u], start[v]}];
  }
  double product = 1;
  for (const auto& [group, count] : kinds) {
    const auto configurations = static_cast<double>(reachable_groups(pairs, group, false).size());
    product *= std::pow(configurations, static_cast<double>(count));
  }
  return product;
}

}  // namespace

double reachable_at_least(const Network& network, PairOutcomes& pairs,
                          std::span<const StateNumber> start) {
  if (network.symmetry() == Symmetry::permutation) {
    Group sorted(start.begin(), start.end());
    std::ranges::sort(sorted);
    return std::max(on_complete_graph(pairs, sorted, 2), on_complete_graph(pairs, sorted, 3));
  }
  const bool rotates = network.symmetry() == Symmetry::rotation;
  const double rotations = rotates ? static_cast<double>(network.agents()) : 1;
  return std::max(1.0, on_graph(network, pairs, start) / rotations);
}

}  // namespace conclave::exact
