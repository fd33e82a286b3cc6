// Walks through the configurations of a small population and all interactions in each, and builds
// their Markov chain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "conclave/exact/configuration_index.hpp"
#include "conclave/exact/network.hpp"
#include "conclave/exact/pair_outcomes.hpp"
#include "conclave/exact/verify_options.hpp"

namespace conclave::exact {

// One outcome of an interaction in a configuration, by numbers. Valid during the visit only.
struct NumberedStep {
  StateIndex from;
  StateIndex to;
  std::span<const StateNumber> before;
  std::size_t initiator;
  std::size_t responder;
  const PairOutcome& result;
};

// Sees every configuration once, in the order of the numbers, each followed by all outcomes of its
// interactions.
class Visitor {
 public:
  virtual ~Visitor() = default;
  virtual void configuration(StateIndex number, std::span<const StateNumber> agents) = 0;
  virtual void step(const NumberedStep& step) = 0;
};

// Throws Error, with the size, if the memory does not suffice for all configurations of agents with
// that many states.
void check_size(const Network& network, double states, const Bounds& bounds);

// Throws Error if the memory does not suffice for this many configurations that are stored one by
// one, as index_as_met does.
void check_reachable(const Network& network, double configurations, const Bounds& bounds);

// Continues from the configurations that the index has until it has all that can be reached, and
// returns the chain over the numbers of the index, with probabilities rounded to doubles. Throws
// Error as soon as the memory does not suffice, and Interrupted.
MarkovChain explore(const Network& network, PairOutcomes& pairs, ConfigurationIndex& index,
                    Visitor& visitor, const Bounds& bounds);

// The same chain with exact probabilities. The index must have all configurations that can be
// reached.
RationalChain explore_exactly(const Network& network, PairOutcomes& pairs,
                              ConfigurationIndex& index);

// The same chain with one more state, the last one: every interaction that changes an output leads
// there, and nothing leads away. Throws Interrupted.
MarkovChain until_output_changes(const Network& network, PairOutcomes& pairs,
                                 ConfigurationIndex& index, const Bounds& bounds);

}  // namespace conclave::exact
