// A lower bound on the number of configurations that a population can reach, found without
// exploring it, so that a hopeless exploration is refused at once.
//
// The idea: agents are divided into small groups, and no agent interacts outside its group.
// Whatever one group can become, all groups can become independently of each other. On a graph, m
// pairs of neighbours that can be in d configurations each have d^m together. On the complete graph
// only the census counts, and m groups have at least C(m + r - 1, m) different censuses, the ways
// to choose m times among r, if r censuses of a group are linearly independent. They are if each of
// them has an agent in a state that does not occur in those before it. For few groups another bound
// is better: of all C(m + d - 1, m) choices among d configurations, no more have the same census
// than there are ways to divide its agents into m groups, 3 for two pairs; and so for groups of
// several kinds, one of those agents among them that are left where n is no multiple of a group.
// What two halves become is also joined pair by pair, and the censuses are counted by bits that
// they hash to.
#pragma once

#include <span>

#include "conclave/exact/configuration_chain.hpp"
#include "conclave/exact/network.hpp"
#include "conclave/exact/pair_outcomes.hpp"

namespace conclave::exact {

// At most the number of configurations, up to symmetry, that can be reached from `start` (one state
// per agent); infinite if that is beyond a double. Tries groups of two to four agents, and looks at
// no more than 65536 configurations of a group, which takes some tenths of a second, and O(agents)
// besides. May add states to `pairs`.
double reachable_at_least(const Network& network, PairOutcomes& pairs,
                          std::span<const StateNumber> start);

// The same by two halves of at most 16 agents, each with up to 16384 configurations: at most some
// 10^8, in up to two seconds.
Reachable reachable_by_halves(const Network& network, PairOutcomes& pairs,
                              std::span<const StateNumber> start);

}  // namespace conclave::exact
