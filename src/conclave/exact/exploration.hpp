// Walks through the configurations of a small population and all interactions in each, and builds
// their Markov chain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "conclave/exact/chains.hpp"
#include "conclave/exact/configuration_index.hpp"
#include "conclave/exact/network.hpp"
#include "conclave/exact/pair_outcomes.hpp"

namespace conclave::exact {

// An interaction in a configuration, by the numbers of states.
struct NumberedStep {
  StateIndex from;
  StateIndex to;
  std::span<const StateNumber> before;
  std::size_t initiator;
  std::size_t responder;
  const PairOutcome& result;
};

// Sees every configuration once, followed by all its interactions.
class Visitor {
 public:
  virtual ~Visitor() = default;
  virtual void configuration(StateIndex number, std::span<const StateNumber> agents) = 0;
  virtual void step(const NumberedStep& step) = 0;
};

// The caller of a long computation: told what is being done and how far it is (the total is 0 if
// nobody knows it), and asked whether to go on.
using Progress =
    std::function<bool(std::string_view what, std::uint64_t done, std::uint64_t total)>;

struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};

struct Bounds {
  std::uint64_t memory = UINT64_MAX;  // bytes for the chain and what is computed from it
  Progress progress = [](std::string_view, std::uint64_t, std::uint64_t) { return true; };
};

// Throws Error, with the size, if all configurations of agents with that many states are too many.
void check_size(const Network& network, double states, const Bounds& bounds);

// Continues from the configurations that the index has until it has all that can be reached, and
// returns the chain over the numbers of the index. Throws Error where that needs too much memory.
MarkovChain explore(const Network& network, PairOutcomes& pairs, ConfigurationIndex& index,
                    Visitor& visitor, const Bounds& bounds);

// The same chain over the configurations that the index has, without rounding.
RationalChain explore_exactly(const Network& network, PairOutcomes& pairs,
                              ConfigurationIndex& index);

// The chain of the configurations of the index in which an interaction that changes an output
// leads to one more state, the last one, and no further.
MarkovChain until_output_changes(const Network& network, PairOutcomes& pairs,
                                 ConfigurationIndex& index, const Bounds& bounds);

}  // namespace conclave::exact
