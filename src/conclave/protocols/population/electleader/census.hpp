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
#include <vector>

#include "conclave/protocols/population/electleader/agent.hpp"

namespace conclave::protocols::electleader {

class Census {
 public:
  explicit Census(std::uint32_t n) : n_(n), with_rank_(n) {}

  void add(const Agent& agent) { count(agent, 1); }
  void remove(const Agent& agent) { count(agent, ~std::uint32_t{0}); }

  std::uint32_t resetters() const { return on_duty_[0]; }
  std::uint32_t rankers() const { return on_duty_[1]; }
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

}  // namespace conclave::protocols::electleader
