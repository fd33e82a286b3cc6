// Walks through the configurations of a small population and all interactions in each, and builds
// their Markov chain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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

// At least so much can be reached.
struct Reachable {
  double configurations;  // infinite if that is beyond a double
  double transitions;     // between them
};

// Throws Error if the memory does not suffice for these configurations, stored one by one as
// index_as_met does.
void check_reachable(const Network& network, const Reachable& reachable, const Bounds& bounds);

// Continues from the configurations that the index has until it has all that can be reached, and
// returns the chain over the numbers of the index, with probabilities rounded to doubles. Throws
// Error as soon as the memory does not suffice, and Interrupted.
MarkovChain explore(const Network& network, PairOutcomes& pairs, ConfigurationIndex& index,
                    Visitor& visitor, const Bounds& bounds);

// The same chain with exact probabilities. The index must have all configurations that can be
// reached.
RationalChain explore_exactly(const Network& network, PairOutcomes& pairs,
                              ConfigurationIndex& index);

// Where walks end.
struct WalkEnd {
  std::size_t way = 0;  // of changing an output; another way leads to `restart`
  // The law of the configurations that the index has first.
  std::span<const double> restart{};
  // Configurations in which the walk has ended, if there are such.
  std::function<bool(std::span<const StateNumber>)> is_over{};
  std::uint64_t most_configurations = UINT64_MAX;
};

// The chain of all configurations of the index, and of those that can be reached from them before
// the end. Its first state is the end, and configuration i of the index is state i + 1. Throws
// Error if there are too many configurations, and Interrupted.
MarkovChain until_end(const Network& network, PairOutcomes& pairs, ConfigurationIndex& index,
                      const WalkEnd& end, const ProgressCallback& progress);

}  // namespace conclave::exact
