// Questions about a chain that its transitions, a target and the distribution of the start answer.
// All take O(states + transitions) unless they solve for hitting times.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "conclave/exact/configuration_index.hpp"
#include "conclave/exact/findings.hpp"

namespace conclave::exact {

// The complement of a set.
StateSet outside(const StateSet& set);

// The first state of a set, if there is one.
std::optional<StateIndex> first_of(const StateSet& set);

// The first state that belongs to exactly one of two sets, if there is one.
std::optional<StateIndex> first_difference(const StateSet& a, const StateSet& b);

// The first transition out of a set, if there is one.
std::optional<std::pair<StateIndex, StateIndex>> way_out(const MarkovChain& chain,
                                                         const StateSet& set);

// A shortest path to a state from one of the first `seeds` states. The states of the chain must be
// numbered in the order of a breadth-first search from these.
std::vector<StateIndex> path_to(const MarkovChain& chain, StateIndex seeds, StateIndex to);

// The state of a set with the largest expectation; nothing if the set is empty. Expectations within
// 1e-10 of the largest count as equal, and the first of these states is returned, so that rounding
// does not decide.
std::optional<StateIndex> slowest_in(const StateSet& set, std::span<const double> means);

// The probability of ever reaching the target, from each state. Solves two systems of equations.
std::vector<double> probability_of_reaching(const MarkovChain& chain, const StateSet& target);

// The time to the target from a start with this distribution, given the hitting times from all
// states with their variances. Where the target may be missed, computes the probability to reach
// it.
TimeReport time_from(const MarkovChain& chain, const StateSet& target, const HittingTimes& times,
                     std::span<const double> start);

}  // namespace conclave::exact
