// A bijection between canonical configurations and the numbers 0, 1, ...: of all configurations of
// a small population by arithmetic, or of those met so far by hashing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "conclave/exact/chains.hpp"
#include "conclave/exact/network.hpp"
#include "conclave/exact/pair_outcomes.hpp"

namespace conclave::exact {

class ConfigurationIndex {
 public:
  virtual ~ConfigurationIndex() = default;

  virtual std::uint64_t size() const = 0;
  // Of a canonical configuration.
  virtual StateIndex number(std::span<const StateNumber> configuration) = 0;
  // Of several, which stand one after the other. The same as one by one, but an index whose parts
  // lie far from each other in memory fetches them all at once.
  virtual void number_all(std::span<const StateNumber> configurations,
                          std::span<StateIndex> numbers);
  virtual void read(StateIndex number, std::span<StateNumber> configuration) const = 0;
  virtual std::uint64_t bytes() const = 0;
};

// How many canonical configurations of agents with that many states there are; rounded, and right
// to about 15 digits.
double count_canonical(const Network& network, double states);

// All of them, in a fixed order; there must be less than 2^32. Numbers take O(agents) to compute.
std::unique_ptr<ConfigurationIndex> index_all(const Network& network, std::size_t states);

// Those that have been asked for, numbered in that order. Numbers take O(agents) to find; a
// configuration takes 1, 2 or 4 bytes per agent and 11 to 23 more.
std::unique_ptr<ConfigurationIndex> index_as_met(const Network& network);

}  // namespace conclave::exact
