// Chains of many kinds, each with the states that end the walk: what a solver of hitting times may
// be given. The same arguments always give the same chain.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "conclave/chain/markov_chain.hpp"

namespace conclave::bench {

struct FamilyChain {
  chain::MarkovChain chain;
  chain::StateSet target;
};

struct Family {
  std::string_view name;
  std::string_view meaning;
  FamilyChain (*make)(chain::StateIndex states);  // about so many
};

const std::vector<Family>& chain_families();

// The same chain with its states numbered in random order.
FamilyChain shuffled(const FamilyChain& family);

}  // namespace conclave::bench
