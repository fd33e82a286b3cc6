// How many agents are in which state, for tallies that follow states: a list of those that occur,
// and the count of each. Dense states have their own place in an array, packed ones in a hash
// table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "conclave/model/population.hpp"
#include "conclave/text/state_space.hpp"

namespace conclave::text {

class Presence {
 public:
  Presence() = default;
  explicit Presence(const StateSpace& space) : is_dense_(space.is_dense()) {
    if (is_dense_) dense_.resize(space.size());
  }

  AgentCount count(StateIndex state) const {
    if (is_dense_) return dense_[state].count;
    const auto found = packed_.find(state);
    return found == packed_.end() ? 0 : found->second.count;
  }

  // `count` more agents in a state (fewer, modulo 2^64, if it is the negative of a number). O(1).
  void change(StateIndex state, AgentCount count) {
    Entry& entry = is_dense_ ? dense_[state] : packed_[state];
    const bool was_there = entry.count != 0;
    entry.count += count;
    if (was_there == (entry.count != 0)) return;
    if (!was_there) {
      entry.place = present_.size();
      present_.push_back(state);
      return;
    }
    const StateIndex last = present_.back();
    present_[entry.place] = last;
    (is_dense_ ? dense_[last] : packed_[last]).place = entry.place;
    present_.pop_back();
    if (!is_dense_) packed_.erase(state);
  }

  // The states that have agents, in no particular order.
  const std::vector<StateIndex>& present() const { return present_; }

 private:
  struct Entry {
    AgentCount count = 0;
    std::size_t place = 0;
  };
  bool is_dense_ = true;
  std::vector<Entry> dense_;
  std::unordered_map<StateIndex, Entry> packed_;
  std::vector<StateIndex> present_;
};

}  // namespace conclave::text
