// Counts the agents that the conditions of a protocol file depend on, and knows, at every
// interaction, whether its stop condition holds: the tally of protocol files.
//
// Up to eight sets of states are counted in the bytes of one word, which is carried over into full
// numbers in time; an interaction costs a few additions, and the condition is looked at again only
// when it may have changed. Conditions that count more sets, speak of silence or put numbers of
// agents together (sum, min, max) are followed state by state, which costs more. Observables of
// that kind are computed from a census instead, when they are read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "conclave/model/population.hpp"
#include "conclave/text/compiled.hpp"
#include "conclave/text/node.hpp"
#include "conclave/text/state_space.hpp"

namespace conclave::text {

// How many agents are in which state, for tallies that follow states: a list of those that occur,
// and the count of each. Dense states have their own place in an array, packed ones in a hash
// table.
class Presence {
 public:
  Presence() = default;
  // Holds no agents yet; O(states) memory where states are dense.
  explicit Presence(const StateSpace& space) : is_dense_(space.is_dense()) {
    if (is_dense_) dense_.resize(space.size());
  }

  // O(1).
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

// Whether a condition about a population holds, and for how many interactions it is certain to keep
// its value, whatever they are: each changes two agents, and so no count by more than 2. A tally
// that knows this need not evaluate the condition after every interaction: two numbers at a
// distance d that come closer by at most r per interaction cannot be equal before d / r.
struct ConditionStability {
  bool holds = false;
  std::uint64_t steps = 0;
};

// `holds` is exact; `steps` is a lower bound, 0 where nothing is known. Throws as text::holds does.
ConditionStability stability_of(const Node& condition, const Scene& scene);

// Whether a condition of Compiled::properties, goals or computations holds in a population with
// this many agents in each state. O(states * sets). Throws Error where it has no value.
bool holds_in(const Compiled& protocol, const Node& condition,
              std::span<const std::pair<StateIndex, AgentCount>> census);

// The protocol must outlive it. Changes are O(1) where sets are counted in bytes, and O(sets) where
// states are followed; what throws is Error, where a condition has no value.
class ConditionTally {
 public:
  // Holds no agents yet. The protocol must outlive it.
  explicit ConditionTally(const Compiled& protocol);

  // Agents appear, disappear, or change by an interaction; conditions are judged at once.
  void add(StateIndex state, AgentCount count = 1) { change(state, count); }
  void remove(StateIndex state, AgentCount count = 1) { change(state, AgentCount{0} - count); }

  void replace(StateIndex u, StateIndex v, StateIndex new_u, StateIndex new_v) {
    if (!is_plain_) [[unlikely]] {
      const StateIndex changed = (u ^ new_u) | (v ^ new_v);
      if ((changed & watched_bits_) != 0) return replace_others(u, v, new_u, new_v);
      if (changed != 0) absorb(0);
      return;
    }
    absorb(steps_[new_u] + steps_[new_v] - steps_[u] - steps_[v]);
  }

  // For engines that sum up changes by themselves, as far as is_patient and patience allow it.
  bool is_patient() const { return is_plain_; }
  std::uint64_t patience() const { return patience_; }
  const std::uint64_t* words() const { return steps_; }
  void defer(std::uint64_t interactions, std::uint64_t change) {
    recent_ += change;
    patience_ -= interactions;
    if (patience_ == 0) grant_patience();
  }
  // Takes over what was summed up since the last call.
  void take(std::uint64_t change);

  // For engines that work in batches: see CensusTallyOf.
  bool is_counted(StateIndex u, StateIndex v, StateIndex new_u, StateIndex new_v) const;
  AgentCount changes_to_stop() const;

  // The judgement of the file on the population as it is now: who leads, whether `stop when` holds,
  // and whether `fail when` does.
  AgentCount leaders() const { return lane_counts()[0]; }
  // From now on, what must hold on (Compiled::hold) takes the place of the stop condition.
  void hold() {
    is_holding_ = true;
    status_ = Status::stale;
    patience_ = calm_ = 0;
  }
  bool violated() const { return is_holding_ && !converged(); }
  bool converged() const { return status_ != Status::open && settled() == Status::converged; }
  bool hopeless() const { return status_ != Status::open && settled() == Status::failed; }

  // Whether the observables need more than this tally knows by itself.
  bool needs_census() const { return protocol_->observes_census() && !protocol_->follows_states(); }
  // The values of the observables; NaN for those that need the census, and for those without a
  // value, such as a ratio to zero agents.
  std::vector<Observation> observations() const;
  // The same with the states that have agents, and how many. O(states).
  using States = std::vector<std::pair<StateIndex, AgentCount>>;
  std::vector<Observation> observations(const States& census) const;
  // The same of a protocol that neither follows states nor observes the census, given how many
  // agents are in each of its first sets.
  static std::vector<Observation> observations_of(const Compiled& protocol,
                                                  std::span<const AgentCount> counts);

 private:
  enum class Status : std::uint8_t { open, converged, failed, stale };
  static constexpr std::size_t lanes = Compiled::most_lanes;
  static constexpr std::uint64_t zeros = 0x8080808080808080u;  // every byte counts from 128
  static constexpr std::uint64_t most_patience = 60;           // a byte changes by 2 at most

  struct Less {
    bool operator()(const Number& a, const Number& b) const { return compare(a, b) < 0; }
  };
  // One aggregate of the conditions: its sum, or how many agents have which value.
  struct Gathered {
    Number sum{};
    std::map<Number, AgentCount, Less> values{};
  };
  struct Pair {
    StateIndex u = 0, v = 0;
  };

  void absorb(std::uint64_t change) {
    if (patience_ != 0) {
      defer(1, change);
    } else if (change != 0) {
      take(change);
    }
  }
  std::uint64_t word_of(StateIndex state) const {
    return steps_ != nullptr ? steps_[state] : word_of_packed(state);
  }
  std::uint64_t word_of_packed(StateIndex state) const;
  void change(StateIndex state, AgentCount count);
  void follow(StateIndex state, AgentCount count);
  void spend_calm(AgentCount agents);
  void replace_others(StateIndex u, StateIndex v, StateIndex new_u, StateIndex new_v);
  void grant_patience();
  void carry_over();
  void decide() const;
  Status settled() const {
    if (status_ == Status::stale) decide();
    return status_;
  }
  std::array<AgentCount, lanes> lane_counts() const;
  std::vector<AgentCount> decisive_counts() const;
  std::vector<Number> decisive_aggregates() const;
  static std::vector<Observation> observed(const Compiled& protocol, const Scene& scene);

  bool is_silent() const;
  bool is_witness(const Pair& pair) const;
  bool finds_witness_beside(StateIndex state) const;
  bool finds_witness() const;
  std::uint64_t silence_steps() const;

  const Compiled* protocol_;
  const std::uint64_t* steps_;  // of dense states: 1 in the byte of every counted set it belongs to
  bool is_plain_;               // dense states, counted in bytes
  StateIndex watched_bits_;     // of states; a change of others changes nothing that is counted
  std::uint64_t recent_ = zeros;
  // How many interactions cannot change the status: first those of which only the sum matters, then
  // more.
  std::uint64_t patience_ = 0;
  bool is_holding_ = false;
  mutable std::uint64_t calm_ = 0;
  mutable std::uint64_t stable_steps_ = 0;  // what calm_ was when the condition was last looked at
  mutable Status status_ = Status::stale;
  std::array<AgentCount, lanes> carried_{};

  // Only of packed states: words computed before, at the place that the hash of the watched bits
  // names.
  mutable std::vector<std::pair<StateIndex, std::uint64_t>> known_words_;

  // Only where states are followed.
  std::vector<AgentCount> all_counts_;
  std::vector<Gathered> gathered_;
  Presence presence_;
  // Two states that react with each other; as long as both have agents, there is no silence.
  mutable Pair witness_{};
  mutable bool is_silent_ = false;       // known until the next change
  std::array<StateIndex, 2> changed_{};  // by the last interaction
  mutable std::uint64_t looks_to_skip_ = 0;
};

}  // namespace conclave::text
