// Questions about a chain that its rows, a target and the law of the start answer.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "conclave/exact/chains.hpp"
#include "conclave/exact/report.hpp"

namespace conclave::exact {

// The complement.
StateSet outside(const StateSet& set);

// The first state of a set, if there is one.
std::optional<StateIndex> first_of(const StateSet& set);

// The first state that belongs to one of two sets only, if there is one.
std::optional<StateIndex> first_difference(const StateSet& a, const StateSet& b);

// The first transition out of a set, if there is one.
std::optional<std::pair<StateIndex, StateIndex>> way_out(const MarkovChain& chain,
                                                         const StateSet& set);

// A shortest path to a state from one of the first `seeds` states, in a chain whose states are
// numbered in the order of a breadth-first search from these.
std::vector<StateIndex> path_to(const MarkovChain& chain, StateIndex seeds, StateIndex to);

// The state of a set with the largest expectation, the first of several; nothing in an empty set.
std::optional<StateIndex> slowest_in(const StateSet& set, std::span<const double> means);

// The probability of ever reaching the target, from each state.
std::vector<double> probability_of_reaching(const MarkovChain& chain, const StateSet& target);

// The time to the target from a start with this law, given the times from all states with their
// variances.
TimeReport time_from(const MarkovChain& chain, const StateSet& target, const HittingTimes& times,
                     std::span<const double> start);

}  // namespace conclave::exact
