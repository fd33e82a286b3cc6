#include "conclave/exact/reachable_bound.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "conclave/base/mixed.hpp"
#include "conclave/exact/configuration_index.hpp"

namespace conclave::exact {
namespace {

// The states of a few agents. On the complete graph they are sorted, since only the census counts.
using Group = std::vector<StateNumber>;

constexpr std::size_t most_configurations = 65536;         // of a group
constexpr std::size_t most_in_all = std::size_t{1} << 18;  // of groups of all kinds
constexpr std::size_t most_in_group = 4;

// Calls visit(group) for all that one interaction makes of a group. Between neighbours on a graph,
// the first is always the initiator.
template <class Visit>
void for_each_next(PairOutcomes& pairs, const Group& group, bool is_complete, Visit visit) {
  for (std::size_t u = 0; u < group.size(); ++u) {
    for (std::size_t v = 0; v < group.size(); ++v) {
      if (u == v || (!is_complete && u > v)) continue;
      for (const PairOutcome& outcome : pairs.outcomes(group[u], group[v])) {
        Group after = group;
        after[u] = outcome.u;
        after[v] = outcome.v;
        if (is_complete) std::ranges::sort(after);
        visit(std::move(after));
      }
    }
  }
}

// All that a group can become if its agents interact only with each other, in the order in which
// it is found, the group itself first.
std::vector<Group> reachable_groups(PairOutcomes& pairs, const Group& start, bool is_complete,
                                    std::size_t most) {
  std::set<Group> known{start};
  std::vector<Group> found{start};
  for (std::size_t next = 0; next < found.size() && found.size() < most; ++next) {
    for_each_next(pairs, Group(found[next]), is_complete, [&](Group group) {
      if (found.size() >= most || !known.insert(group).second) return;
      found.push_back(std::move(group));
    });
  }
  return found;
}

// To how many others of its censuses the group goes in one interaction.
std::uint64_t successors(PairOutcomes& pairs, const Group& group) {
  std::set<Group> found;
  for_each_next(pairs, group, true, [&](Group after) {
    if (after != group) found.insert(std::move(after));
  });
  return found.size();
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

// ln of the factorial.
double ln_factorial(std::size_t number) {
  double sum = 0;
  for (std::size_t i = 2; i <= number; ++i) sum += std::log(static_cast<double>(i));
  return sum;
}

// ln of the ways to choose so many things among `kinds` kinds, with repetitions.
double ln_multisets(std::size_t things, double kinds) {
  double sum = 0;
  for (std::size_t i = 1; i <= things; ++i) {
    const auto number = static_cast<double>(i);
    sum += std::log((kinds - 1 + number) / number);
  }
  return sum;
}

// Groups that begin alike, and what each of them can become.
struct Kind {
  std::size_t groups = 0;
  std::size_t agents = 0;  // of a group
  std::vector<Group> configurations{};
};

// At most the censuses of groups that become what they can independently of each other.
double count_censuses(const std::vector<Kind>& kinds) {
  double alone = 1;  // of one kind, with the others as they are at the start
  double ln_all = 0;
  double ln_divisions = 0;
  std::size_t agents = 0;
  for (const Kind& kind : kinds) {
    if (kind.configurations.size() == 1) continue;  // known agents, which nothing is chosen for
    const auto independent = static_cast<double>(count_independent(kind.configurations));
    alone = std::max(alone, count_multisets(kind.groups, independent));
    ln_all += ln_multisets(kind.groups, static_cast<double>(kind.configurations.size()));
    agents += kind.groups * kind.agents;
    ln_divisions -= static_cast<double>(kind.groups) * ln_factorial(kind.agents);
    ln_divisions -= ln_factorial(kind.groups);
  }
  constexpr double slack = 1e-9;  // for rounding
  return std::max(alone, (1 - slack) * std::exp(ln_all - (ln_divisions + ln_factorial(agents))));
}

// The configurations of two groups together, which are independent of each other.
class Unions {
 public:
  explicit Unions(PairOutcomes& pairs) : pairs_(pairs) {}

  // Each census has a bit of its own or shares one.
  void add(const std::vector<Group>& first, const std::vector<Group>& second) {
    const std::vector<Half> others = halves_of(second);
    const bool are_alike = first == second;
    std::size_t begin = 0;
    for (const Half& ours : halves_of(first)) {
      for (const Half& other : std::span(others).subspan(are_alike ? begin++ : 0)) {
        const std::uint64_t place = (ours.word + other.word) >> (64 - bits);
        std::uint64_t& seen = seen_[place / 64];
        const std::uint64_t bit = std::uint64_t{1} << place % 64;
        const std::uint64_t is_new = (seen & bit) == 0;
        seen |= bit;
        configurations_ += is_new;
        transitions_ += is_new * std::max(ours.successors, other.successors);
      }
    }
  }

  Reachable reachable() const {
    return {static_cast<double>(configurations_), static_cast<double>(transitions_)};
  }

 private:
  static constexpr unsigned bits = 28;

  struct Half {
    std::uint64_t word = 0;  // the same for equal censuses: the sum of words of their states
    std::uint64_t successors = 1;
  };

  std::vector<Half> halves_of(const std::vector<Group>& groups) const {
    std::vector<Half> halves;
    for (const Group& group : groups) {
      Half half;
      for (const StateNumber state : group)
        half.word += mixed((state + std::uint64_t{1}) * 0x9e3779b97f4a7c15u);
      half.successors = std::max<std::uint64_t>(1, successors(pairs_, group));
      halves.push_back(half);
    }
    return halves;
  }

  PairOutcomes& pairs_;
  std::uint64_t configurations_ = 0;
  std::uint64_t transitions_ = 0;  // at least
  std::vector<std::uint64_t> seen_ = std::vector<std::uint64_t>(std::size_t{1} << (bits - 6));
};

// With two halves.
Reachable with_halves(PairOutcomes& pairs, const Group& sorted_start) {
  constexpr std::size_t most_in_half = 16384;
  constexpr std::size_t least_unions = 1 << 12;  // fewer are soon explored
  const auto middle = sorted_start.begin() + static_cast<std::ptrdiff_t>(sorted_start.size() / 2);
  const Group first(sorted_start.begin(), middle);
  const Group second(middle, sorted_start.end());
  const auto ours = reachable_groups(pairs, first, true, most_in_half);
  const auto others = first == second ? ours : reachable_groups(pairs, second, true, most_in_half);
  if (ours.size() * others.size() < least_unions) return {1, 1};
  Unions unions(pairs);
  unions.add(ours, others);
  return unions.reachable();
}

// With groups of this size, and one of the agents that are left.
double on_complete_graph(PairOutcomes& pairs, const Group& sorted_start, std::size_t size) {
  std::map<Group, std::size_t> groups;
  for (std::size_t i = 0; i < sorted_start.size(); i += size) {
    const std::size_t end = std::min(i + size, sorted_start.size());
    ++groups[Group(sorted_start.begin() + static_cast<std::ptrdiff_t>(i),
                   sorted_start.begin() + static_cast<std::ptrdiff_t>(end))];
  }
  const std::size_t each = std::min(most_configurations, most_in_all / groups.size());
  std::vector<Kind> kinds;
  for (const auto& [group, count] : groups) {
    kinds.push_back({count, group.size(), reachable_groups(pairs, group, true, each)});
  }
  return count_censuses(kinds);
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
    const auto configurations =
        static_cast<double>(reachable_groups(pairs, group, false, most_configurations).size());
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
    double most = 1;
    for (std::size_t size = 2; size <= most_in_group && size <= sorted.size(); ++size) {
      most = std::max(most, on_complete_graph(pairs, sorted, size));
    }
    return most;
  }
  const bool rotates = network.symmetry() == Symmetry::rotation;
  const double rotations = rotates ? static_cast<double>(network.agents()) : 1;
  return std::max(1.0, on_graph(network, pairs, start) / rotations);
}

Reachable reachable_by_halves(const Network& network, PairOutcomes& pairs,
                              std::span<const StateNumber> start) {
  constexpr std::size_t most_agents = 16;
  const bool is_tried = network.symmetry() == Symmetry::permutation && start.size() <= most_agents;
  if (!is_tried) return {1, 1};
  Group sorted(start.begin(), start.end());
  std::ranges::sort(sorted);
  return with_halves(pairs, sorted);
}

}  // namespace conclave::exact
