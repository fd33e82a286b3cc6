// Numbers the canonical configurations of a small population 0, 1, 2, ...: all of them by
// arithmetic, or those met so far by hashing. A number is a state of the Markov chain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "conclave/base/progress.hpp"
#include "conclave/chain/components.hpp"
#include "conclave/chain/hitting_times.hpp"
#include "conclave/chain/markov_chain.hpp"
#include "conclave/chain/rational_chain.hpp"
#include "conclave/exact/network.hpp"
#include "conclave/exact/pair_outcomes.hpp"

namespace conclave::exact {

// The number of a configuration is a state of a chain.
using chain::can_reach;
using chain::ChainBuilder;
using chain::HittingTimes;
using chain::MarkovChain;
using chain::Rational;
using chain::RationalChain;
using chain::StateIndex;
using chain::StateSet;

class ConfigurationIndex {
 public:
  virtual ~ConfigurationIndex() = default;

  // How many configurations have a number.
  virtual std::uint64_t size() const = 0;
  // The number of a configuration, which must be canonical (Network::canonicalize).
  virtual StateIndex number(std::span<const StateNumber> configuration) = 0;
  // The numbers of several configurations, which stand one after the other. The result is that of
  // single calls; an index whose parts lie far apart in memory fetches them all at once.
  virtual void number_all(std::span<const StateNumber> configurations,
                          std::span<StateIndex> numbers);
  // The configuration with a number below size(); the span has one place per agent.
  virtual void read(StateIndex number, std::span<StateNumber> configuration) const = 0;
  // The memory it takes now.
  virtual std::uint64_t bytes() const = 0;
};

// How many canonical configurations there are of agents with that many states each. Rounded, with
// about 15 correct digits; infinite beyond the range of a double. O(agents).
double count_canonical(const Network& network, double states);

// The number of multisets of that many agents' states, C(agents + states - 1, agents), rounded as
// above.
double count_multisets(std::size_t agents, double states);

// Numbers all canonical configurations in a fixed order. There must be fewer than 4e9. Numbers take
// O(agents) to compute. A ring's tuples are all looked at here, which may be stopped through
// `progress`.
std::unique_ptr<ConfigurationIndex> index_all(const Network& network, std::size_t states,
                                              const ProgressCallback& progress = {});

// Numbers configurations in the order of first use. Numbers take O(agents) to find; a configuration
// takes 1, 2 or 4 bytes per agent and 11 to 23 more.
std::unique_ptr<ConfigurationIndex> index_as_met(const Network& network);

}  // namespace conclave::exact
