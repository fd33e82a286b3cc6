// The transitions of a protocol as a net over counts: what can be computed about it without a
// solver. A set of states is a *trap* (of some transitions) if whoever takes an agent out of it
// puts one in, and a *siphon* if whoever puts one in takes one out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "conclave/text/counts_model.hpp"

namespace conclave::prove {

using Transition = text::CountsTransition;
using States = std::vector<bool>;                               // a set, by state
using Counts = std::vector<std::int64_t>;                       // agents, or weights, by state
using Bag = std::vector<std::pair<std::size_t, std::int64_t>>;  // a few agents: state, count > 0

struct Net {
  std::size_t states = 0;
  std::vector<Transition> transitions{};

  // The agents that a transition needs and gives, and the counts that it changes.
  static Bag needs(const Transition& transition);
  static Bag gives(const Transition& transition);
  static Bag change(const Transition& transition);
};

// The sum of the weights that a transition adds.
std::int64_t weight_change(const Counts& weights, const Transition& transition);
bool covers(const Counts& counts, const Bag& bag);
bool covers(const Bag& large, const Bag& small);
bool is_enabled(const Counts& counts, const Transition& transition);
void fire(Counts& counts, const Transition& transition);
// The least bag from which the transition leads to one that covers `bag`.
Bag before(const Bag& bag, const Transition& transition);

// The states that agents are in; all states outside a set.
States support(const Counts& counts);
States complement(States set);
// Sets of the same states.
bool intersects(const States& a, const States& b);
bool is_empty(const States& set);

// The largest trap of the live transitions within a set. O(states transitions) at worst.
States largest_trap(const Net& net, const std::vector<bool>& live, States within);
// The largest set Z within a set such that each live transition that puts an agent into Z takes one
// out of Z or puts one into Y: with no Y, the largest siphon.
States largest_follower(const Net& net, const std::vector<bool>& live, States within,
                        const States& y);
bool is_trap(const Net& net, const std::vector<bool>& live, const States& set);
bool is_siphon(const Net& net, const std::vector<bool>& live, const States& set);

}  // namespace conclave::prove
