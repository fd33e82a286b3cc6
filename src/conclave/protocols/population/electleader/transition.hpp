// Protocol 1: what two agents of ElectLeader_r do when they meet. Resets come first, then the
// ranking with its countdown, then verification.
#pragma once

#include "conclave/base/choice.hpp"
#include "conclave/model/steps.hpp"
#include "conclave/protocols/population/electleader/agent.hpp"
#include "conclave/protocols/population/electleader/assign_ranks.hpp"
#include "conclave/protocols/population/electleader/propagate_reset.hpp"
#include "conclave/protocols/population/electleader/stable_verify.hpp"

namespace conclave::protocols::electleader {

// The constants are copied, the groups must outlive it.
template <MessageSystem M>
class Transition {
 public:
  struct Outcome {
    VerifyOutcome verified{};
    bool has_winner = false;  // FastLeaderElect has just ended for one of the two
  };

  Transition(const Constants& constants, const Groups& groups)
      : derandomize_(constants.derandomize),
        reset_(constants),
        ranks_(constants),
        verify_(constants, groups) {}

  // u initiates, v responds.
  Outcome interact(Member u, Member v, Choice auto& choice) {
    Outcome outcome;
    if (derandomize_) exchange_coins(u.agent.coins, v.agent.coins);  // Appendix B
    note(choice, "1: 1-2", u.agent.is(Duty::resetting) || v.agent.is(Duty::resetting));
    if (u.agent.is(Duty::resetting)) {
      propagate_reset(u, v);
    } else if (v.agent.is(Duty::resetting)) {
      propagate_reset(v, u);
    }
    if (u.agent.is(Duty::ranking) && v.agent.is(Duty::ranking)) {
      note(choice, "1: 3-4");
      outcome.has_winner = assign_ranks(u, v, choice);  // lines 4 and following
    }
    begin_to_verify(u, v, choice);
    if (u.agent.is(Duty::verifying) && v.agent.is(Duty::verifying)) {
      outcome.verified = verify_.interact(u, v, choice);
    }
    return outcome;
  }

  // For callers that place and dismiss verifiers themselves.
  StableVerify<M>& verify() { return verify_; }

 private:
  void propagate_reset(Member u, Member v) {
    const bool v_verifies = v.agent.is(Duty::verifying);
    const Verifier before = v.agent.verifier;
    reset_.interact(u.agent, v.agent);
    if (v_verifies && !v.agent.is(Duty::verifying)) verify_.dismiss(v.index, before);
  }

  // Whether one of the two has won the election.
  bool assign_ranks(Member u, Member v, Choice auto& choice) {
    const bool are_electing =
        u.agent.ranker.type == Type::electing && v.agent.ranker.type == Type::electing;
    bool has_winner = false;
    ranks_.interact(u.agent, v.agent, choice);
    for (Member i : {u, v}) {
      if (i.agent.ranker.countdown > 0) --i.agent.ranker.countdown;
      has_winner |= are_electing && i.agent.ranker.has_channel();
    }
    return has_winner;
  }

  // A ranker whose countdown is 0, or that meets a verifier, becomes a verifier (erratum 1).
  void begin_to_verify(Member u, Member v, Choice auto& choice) {
    if (!u.agent.is(Duty::ranking) && !v.agent.is(Duty::ranking)) return;
    const auto must = [](const Agent& agent) {
      return agent.is(Duty::verifying) || (agent.is(Duty::ranking) && agent.ranker.countdown == 0);
    };
    if (!must(u.agent) && !must(v.agent)) return;
    note(choice, "1: verify");
    for (Member i : {u, v}) {
      if (i.agent.is(Duty::ranking)) verify_.begin(i, i.agent.ranker.rank);
    }
  }

  bool derandomize_;
  PropagateReset reset_;
  AssignRanks ranks_;
  StableVerify<M> verify_;
};

}  // namespace conclave::protocols::electleader
