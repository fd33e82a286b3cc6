// States that may be merged while a population has not failed, computed and not declared.
//
// In `ppl`, as long as no output changes, a follower's shield and timer_I do not matter. Such facts
// are found here by refining partitions: two states stay together if with every partner they have
// the same law of (new state, new state of the partner), both up to the partition, and fail with
// the same probabilities. Configurations up to this partition are then a Markov chain with the same
// times until a failure, whatever the number of agents, and there are far fewer of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "conclave/exact/pair_outcomes.hpp"
#include "conclave/exact/start_law.hpp"
#include "conclave/exact/state_table.hpp"

namespace conclave::exact {

// A failure by the numbers of states: something that two agents do, or a property of the
// configuration that the interaction leads to.
class FailureQuestion {
 public:
  virtual ~FailureQuestion() = default;
  // The way in which two agents fail that go from (u, v) to (new_u, new_v).
  virtual std::optional<std::size_t> way(StateNumber u, StateNumber v, StateNumber new_u,
                                         StateNumber new_v) const = 0;
  // Whether a population in these states has failed, in way 0.
  virtual bool is_over(std::span<const StateNumber>) { return false; }
  // is_over() does not tell states of the same label apart.
  virtual std::uint64_t label(StateNumber) const { return 0; }
};

// The block of each member.
using Partition = std::vector<StateNumber>;

// The states that agents can have before a failure, and what their meetings lead to. A member is a
// state together with the answer whether its agent is the lone one: an agent that begins in a law
// which no other agent has, if there is just one such, as the leader of ppl. It never meets itself,
// so its states need not be told apart by what two of them would do.
class MeetingStates final : public PairOutcomes {
 public:
  // Follows all meetings of members from the agents' initial states on. Throws Error if there are
  // more than `most` members. The table and the question must outlive it.
  MeetingStates(NumberedStates& table, const FailureQuestion& question,
                std::vector<StateLaw> agents, std::size_t most);

  std::size_t size() const { return members_.size(); }
  StateNumber state(StateNumber member) const { return members_[member].state; }
  // The members in which each agent begins.
  const std::vector<StateLaw>& agents() const { return agents_; }

  // The coarsest partition that may be used. O(rounds size^2 log size), at most `size` rounds.
  Partition coarsest();
  // Why this partition may not be used, in a sentence that names two states which it merges; none
  // if it may be. Exhaustive over all pairs of members.
  std::optional<std::string> violation(const Partition& blocks);

 private:
  struct Member {
    bool is_lone;
    StateNumber state;
    friend auto operator<=>(const Member&, const Member&) = default;
  };
  using Signature = std::vector<std::uint64_t>;

  StateNumber number(const Member& member);
  std::vector<PairOutcome> compute(StateNumber u, StateNumber v, OracleAnswer answer) override;
  bool can_meet(StateNumber u, StateNumber v) const {
    return !(members_[u].is_lone && members_[v].is_lone);
  }
  void add_law(Signature& signature, StateNumber u, StateNumber v, const Partition& blocks);
  // The laws of a member's meetings with one partner.
  Signature with_partner(StateNumber member, StateNumber partner, const Partition& blocks);
  std::string text(StateNumber member) const { return '(' + table_.text(state(member)) + ')'; }

  NumberedStates& table_;
  const FailureQuestion& question_;
  std::vector<Member> members_;
  std::map<Member, StateNumber> numbers_;
  std::vector<StateLaw> agents_;
};

// The blocks of a partition as states. An outcome that fails has `changes_output`, and leaves both
// agents as they are.
class LumpedStates final : public PairOutcomes {
 public:
  // Throws Error with the violation if the partition may not be used.
  LumpedStates(MeetingStates& members, Partition blocks);

  std::size_t size() const { return representatives_.size(); }
  // A state of the block.
  StateNumber state(StateNumber block) const { return members_.state(representatives_[block]); }
  // The blocks in which each agent begins.
  std::vector<StateLaw> agents() const;

 private:
  std::vector<PairOutcome> compute(StateNumber u, StateNumber v, OracleAnswer answer) override;

  MeetingStates& members_;
  Partition blocks_;
  std::vector<StateNumber> representatives_;  // a member of each block
};

}  // namespace conclave::exact
