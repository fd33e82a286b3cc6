// Counts the agents that a protocol text asks about and knows, at every interaction, whether its
// stop condition holds: the tally of protocol texts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "conclave/model/population.hpp"
#include "conclave/text/compiled.hpp"

namespace conclave::text {

// The counts are kept in the bytes of one word, which is carried over into full numbers in time; an
// interaction costs a few additions, and the condition is looked at again only when it may have
// changed. A text that counts more than eight sets of states, or speaks of silence, is followed
// state by state instead.
class ConditionTally {
 public:
  explicit ConditionTally(const Compiled& protocol);

  void add(StateIndex state, AgentCount count) { change(state, count); }
  void remove(StateIndex state, AgentCount count) { change(state, AgentCount{0} - count); }

  void replace(StateIndex u, StateIndex v, StateIndex new_u, StateIndex new_v) {
    if (follows_states_) [[unlikely]]
      return replace_states(u, v, new_u, new_v);
    const std::uint64_t change = steps_[new_u] + steps_[new_v] - steps_[u] - steps_[v];
    if (patience_ != 0) {
      defer(1, change);
    } else if (change != 0) {
      take(change);
    }
  }

  // For engines that sum up changes by themselves, as far as is_patient and patience allow it.
  bool is_patient() const { return !follows_states_; }
  std::uint64_t patience() const { return patience_; }
  const std::uint64_t* words() const { return steps_; }
  void defer(std::uint64_t interactions, std::uint64_t change) {
    recent_ += change;
    patience_ -= interactions;
    if (patience_ == 0) grant_patience();
  }
  void take(std::uint64_t change);

  // For engines that work in batches: see CensusTallyOf.
  bool is_counted(StateIndex u, StateIndex v, StateIndex new_u, StateIndex new_v) const;
  AgentCount changes_to_stop() const;

  AgentCount leaders() const { return counts()[0]; }
  bool converged() const { return status_ != Status::open && settled() == Status::converged; }
  bool hopeless() const { return status_ != Status::open && settled() == Status::failed; }
  std::vector<Observation> observations() const;

 private:
  enum class Status : std::uint8_t { open, converged, failed, stale };
  static constexpr std::size_t lanes = 8;
  static constexpr std::uint64_t zeros = 0x8080808080808080u;  // every byte counts from 128
  static constexpr std::uint64_t most_patience = 60;           // a byte changes by 2 at most

  void change(StateIndex state, AgentCount count);
  void spend_calm(AgentCount agents);
  std::uint64_t silence_steps() const;
  void replace_states(StateIndex u, StateIndex v, StateIndex new_u, StateIndex new_v);
  void change_presence(StateIndex state, AgentCount before, AgentCount after);
  std::uint64_t reactions_with_others(StateIndex state) const;
  void grant_patience();
  void carry_over();
  void decide() const;
  Status settled() const {
    if (status_ == Status::stale) decide();
    return status_;
  }
  std::vector<AgentCount> counts() const;
  bool is_silent() const { return active_pairs_ == 0; }

  const Compiled* protocol_;
  const std::uint64_t* steps_;  // by state: 1 in the byte of every set it belongs to
  std::uint64_t recent_ = zeros;
  // So many interactions cannot change the status: first those of which only the sum matters, then
  // more.
  std::uint64_t patience_ = 0;
  mutable std::uint64_t calm_ = 0;
  mutable std::uint64_t stable_steps_ = 0;  // what calm_ was when the condition was last looked at
  mutable Status status_ = Status::stale;
  bool follows_states_ = false;
  std::array<AgentCount, lanes> carried_{};

  // Only where states are followed.
  std::vector<AgentCount> all_counts_;
  std::vector<AgentCount> by_state_;
  std::vector<StateIndex> present_;   // states with agents
  std::vector<std::uint32_t> place_;  // of a state among those
  std::uint64_t active_pairs_ = 0;    // ordered pairs of present states that can react
  mutable std::uint64_t looks_to_skip_ = 0;
};

}  // namespace conclave::text
