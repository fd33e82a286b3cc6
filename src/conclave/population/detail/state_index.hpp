// The states met so far, each with a number: 0, 1, 2, ... in the order in which they were met.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "conclave/base/fields.hpp"
#include "conclave/base/key_index.hpp"

namespace conclave::population::detail {

template <class State>
class StateIndex {
 public:
  using Id = std::uint32_t;

  std::size_t size() const { return states_.size(); }
  // Valid until the next state is met.
  const State& state(Id id) const { return states_[id]; }

  // The number of a state; one met for the first time gets the next. Expected O(1).
  Id id_of(const State& state) {
    const auto [id, is_new] = index_.find_or_add(
        hash_of(state), [&](Id other) { return states_[other] == state; }, hash_by_id());
    if (is_new) states_.push_back(state);
    return id;
  }

  // Forgets all states but these, which are renumbered in this order. O(states kept).
  void keep(const std::vector<Id>& kept) {
    std::vector<State> states;
    for (const Id id : kept) states.push_back(states_[id]);
    states_ = std::move(states);
    index_.assign(states_.size(), hash_by_id());
  }

 private:
  auto hash_by_id() const {
    return [this](Id id) { return hash_of(states_[id]); };
  }

  std::vector<State> states_;
  KeyIndex<PlainSlot> index_{25};
};

}  // namespace conclave::population::detail
