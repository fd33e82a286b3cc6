// Counts of agents from which it is known at every interaction whether the configuration is safe.
//
// Safe: all agents verify, their ranks are a permutation, and for some generation i (1) all agents
// are in generation i or i+1, (2) those in generation i are off probation, (3) if these are put
// into their state q_0,DC, the messages are consistent. The set contains the paper's C_safe, in
// which (3) demands reachability from the clean state, and is closed for the same reasons as in
// Lemma 6.1.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conclave/base/interactions.hpp"
#include "conclave/model/population.hpp"
#include "conclave/protocols/population/electleader/agent.hpp"
#include "conclave/protocols/population/electleader/stable_verify.hpp"

namespace conclave::protocols::electleader {

class Census {
 public:
  explicit Census(std::uint32_t n) : n_(n), with_rank_(n) {}

  void add(const Agent& agent) { count(agent, 1); }
  void remove(const Agent& agent) { count(agent, ~std::uint32_t{0}); }

  // Agents that reset; that verify; that reset with resetCount 0; that rank and know their rank.
  std::uint32_t resetters() const { return on_duty_[0]; }
  std::uint32_t verifiers() const { return on_duty_[2]; }
  std::uint32_t dormant() const { return dormant_; }
  std::uint32_t ranked() const { return of_type(Type::ranked); }
  std::uint32_t of_type(Type type) const { return of_type_[static_cast<std::size_t>(type)]; }
  std::uint32_t leaders() const { return with_rank_[0]; }
  bool ranking_is_correct() const { return different_ranks_ == n_; }

  // `is_consistent(generation)` tells whether the rooms of a generation are; called only if
  // everything else already holds.
  template <class IsConsistent>
  bool is_safe(IsConsistent&& is_consistent) const {
    if (!ranking_is_correct()) return false;
    for (std::uint32_t i = 0; i < generations; ++i) {
      const std::uint32_t next = (i + 1) % generations;
      if (in_generation_[i] + in_generation_[next] < n_ || on_probation_[i] > 0) continue;
      if (in_generation_[next] == 0) return true;
      if (in_error_[next] == 0 && is_consistent(static_cast<std::uint8_t>(next))) return true;
    }
    return false;
  }

 private:
  void count(const Agent& agent, std::uint32_t one) {  // adding 2^32 - 1 subtracts 1
    on_duty_[static_cast<std::size_t>(agent.duty)] += one;
    if (agent.is(Duty::ranking)) {
      of_type_[static_cast<std::size_t>(agent.ranker.type)] += one;
    } else if (agent.is(Duty::resetting)) {
      if (agent.resetter.count == 0) dormant_ += one;
    } else {
      count_verifier(agent.verifier, one);
    }
  }

  void count_verifier(const Verifier& verifier, std::uint32_t one) {
    std::uint32_t& same = with_rank_[verifier.rank - 1];
    if (one == 1 ? same == 0 : same == 1) different_ranks_ += one;
    same += one;
    in_generation_[verifier.generation] += one;
    if (verifier.probation > 0) on_probation_[verifier.generation] += one;
    if (verifier.error) in_error_[verifier.generation] += one;
  }

  std::uint32_t n_;
  std::array<std::uint32_t, 3> on_duty_{};
  std::uint32_t dormant_ = 0;
  std::array<std::uint32_t, 6> of_type_{};  // rankers
  std::uint32_t different_ranks_ = 0;       // of verifiers
  std::vector<std::uint32_t> with_rank_;
  std::array<std::uint32_t, generations> in_generation_{};
  std::array<std::uint32_t, generations> on_probation_{};
  std::array<std::uint32_t, generations> in_error_{};
};

// The cause as rows have it; empty for none.
inline std::string_view name_of(Cause cause) {
  constexpr std::array<std::string_view, 4> names{"", "same rank", "message twice",
                                                  "wrong content"};
  return names[static_cast<std::size_t>(cause)];
}

// An empty text where the time is missing.
inline Observation time_observation(std::string_view name, std::optional<Interactions> time) {
  if (!time) return {name, std::string()};
  return {name, *time};
}

// The observables of ElectLeader_r besides its time: how often and why it was reset, and when
// its phases were reached, each for the last time.
class History {
 public:
  static constexpr std::array observables{
      Observable{"full_resets", "times that an agent executed TriggerReset"},
      Observable{"soft_resets", "times that an agent changed its generation"},
      Observable{"ranking_correct", "whether all agents verify and their ranks are 1 ... n"},
      Observable{"first_detection",
                 "number of the first interaction in which DetectCollision_r raised an error; "
                 "absent if none did"},
      Observable{"first_detection_cause",
                 "same rank, message twice or wrong content; absent if there was none"},
      Observable{"dormant_at",
                 "last time that the last agent fell dormant; absent if it never did"},
      Observable{"awake_at", "last time that the last resetter woke up; absent if it never did"},
      Observable{"sheriff_at", "last time that FastLeaderElect ended for a winner, or absent"},
      Observable{"ranked_at", "last time that the last agent found its rank, or absent"},
      Observable{"verifying_at", "last time that the last ranker became a verifier, or absent"},
  };

  void note(const VerifyOutcome& outcome, Interactions number) {
    full_resets_ += outcome.full_resets;
    soft_resets_ += outcome.soft_resets;
    if (outcome.cause == Cause::none || first_detection_) return;
    first_detection_ = number;
    first_cause_ = outcome.cause;
  }

  // FastLeaderElect has ended for a winner in the interaction of this number.
  void note_sheriff(Interactions number) { times_[2] = number; }

  // Called after every interaction; a phase is reached when its count gets to n.
  void note_phases(const Census& census, std::uint32_t n, Interactions number) {
    note_phase(0, census.dormant() == n, number);
    note_phase(1, census.resetters() == 0, number);
    note_phase(3, census.ranked() == n, number);
    note_phase(4, census.verifiers() == n, number);
  }

  // At the start nothing has been reached, however it looks.
  void begin(const Census& census, std::uint32_t n) {
    note_phases(census, n, 0u);
    times_ = {};
  }

  std::vector<Observation> observations(const Census& census) const {
    std::vector<Observation> all{{observables[0].name, full_resets_},
                                 {observables[1].name, soft_resets_},
                                 {observables[2].name, census.ranking_is_correct()},
                                 time_observation(observables[3].name, first_detection_),
                                 {observables[4].name, std::string(name_of(first_cause_))}};
    for (std::size_t phase = 0; phase < times_.size(); ++phase) {
      all.push_back(time_observation(observables[5 + phase].name, times_[phase]));
    }
    return all;
  }

  std::uint64_t full_resets() const { return full_resets_; }
  std::uint64_t soft_resets() const { return soft_resets_; }

 private:
  void note_phase(std::size_t phase, bool holds, Interactions number) {
    if (holds && !holds_[phase]) times_[phase] = number;
    holds_[phase] = holds;
  }

  std::uint64_t full_resets_ = 0;
  std::uint64_t soft_resets_ = 0;
  std::optional<Interactions> first_detection_;
  Cause first_cause_ = Cause::none;
  std::array<std::optional<Interactions>, 5> times_;
  std::array<bool, 5> holds_{};
};

}  // namespace conclave::protocols::electleader
