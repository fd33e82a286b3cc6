// The structure of a chain as a graph: the strongly connected components of a walk that ends in a
// target set, in an order in which every component comes after those it leads to; and the states
// from which a set can be reached.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "conclave/chain/markov_chain.hpp"

namespace conclave::chain {

struct Components {
  // All states outside the target; those of one component are neighbours. Within a component they
  // stand as a depth-first search left them, so that most successors come before.
  std::vector<StateIndex> order;
  std::vector<std::uint32_t> starts;  // component c is order[starts[c]] to order[starts[c + 1] - 1]

  // The number of components, and the states of one.
  std::size_t count() const { return starts.size() - 1; }
  std::span<const StateIndex> states(std::size_t component) const {
    return std::span(order).subspan(starts[component], starts[component + 1] - starts[component]);
  }
};

// Tarjan's algorithm without recursion: linear time, 16 bytes per state.
Components components(const MarkovChain& chain, const StateSet& target);

// The same where nearly every state is a component of its own and no search goes deep; nothing, and
// that soon, for most other chains.
std::optional<Components> nearly_single_components(const MarkovChain& chain,
                                                   const StateSet& target);

// The states from which some state of the set can be reached, those of the set included. Linear
// time, 4 bytes per transition.
StateSet can_reach(const MarkovChain& chain, const StateSet& set);

}  // namespace conclave::chain
