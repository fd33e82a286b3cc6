// The states met so far, each with a number: 0, 1, 2, ... in the order in which they were met.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "conclave/base/fields.hpp"

namespace conclave::population::detail {

template <class State>
class StateIndex {
 public:
  using Id = std::uint32_t;

  StateIndex() { make_room(64); }

  std::size_t size() const { return states_.size(); }
  const State& state(Id id) const { return states_[id]; }

  // The number of a state; one met for the first time gets the next.
  Id id_of(const State& state) {
    std::size_t slot = hash_of(state) & mask_;
    for (; slots_[slot] != nobody; slot = (slot + 1) & mask_) {
      if (states_[slots_[slot]] == state) return slots_[slot];
    }
    const auto id = static_cast<Id>(states_.size());
    states_.push_back(state);
    slots_[slot] = id;
    if (4 * states_.size() > slots_.size()) make_room(2 * states_.size());
    return id;
  }

  // Forgets all states but these, which are renumbered in this order.
  void keep(const std::vector<Id>& kept) {
    std::vector<State> states;
    for (const Id id : kept) states.push_back(states_[id]);
    states_ = std::move(states);
    make_room(std::max<std::size_t>(64, 2 * states_.size()));
  }

 private:
  void make_room(std::size_t states) {
    slots_.assign(4 * std::bit_ceil(states), nobody);
    mask_ = slots_.size() - 1;
    for (Id id = 0; id < states_.size(); ++id) {
      std::size_t slot = hash_of(states_[id]) & mask_;
      while (slots_[slot] != nobody) slot = (slot + 1) & mask_;
      slots_[slot] = id;
    }
  }

  static constexpr Id nobody = ~Id{0};

  std::vector<State> states_;
  std::vector<Id> slots_;  // open addressing, at most a quarter full
  std::size_t mask_ = 0;
};

}  // namespace conclave::population::detail
