// StableVerify_r (Protocol 2): runs DetectCollision_r and decides what an error means. Soon after a
// ranking (on probation), that the ranking is wrong: a full reset. Later, that messages may have
// been wrong from the beginning: a soft reset, which leaves the ranks alone and starts a new
// generation.
#pragma once

#include <cstdint>
#include <utility>

#include "conclave/base/choice.hpp"
#include "conclave/model/steps.hpp"
#include "conclave/protocols/population/electleader/agent.hpp"
#include "conclave/protocols/population/electleader/detect_collision.hpp"
#include "conclave/protocols/population/electleader/messages.hpp"
#include "conclave/protocols/population/electleader/propagate_reset.hpp"

namespace conclave::protocols::electleader {

// An agent and its name in the message system.
struct Member {
  Agent& agent;
  AgentIndex index;
};

struct VerifyOutcome {
  Cause cause = Cause::none;      // of an error that DetectCollision_r has just raised
  std::uint32_t soft_resets = 0;  // agents that have changed their generation
  std::uint32_t full_resets = 0;  // agents that have triggered a reset
};

template <MessageSystem M>
class StableVerify {
 public:
  // The groups must outlive it. No agent verifies.
  StableVerify(const Constants& constants, const Groups& groups)
      : constants_(constants),
        groups_(&groups),
        reset_(constants),
        detect_(constants, groups),
        messages_(groups, constants.n) {}

  // The agent verifies from now on, in the state q_0,SV: on probation, with clean messages.
  void begin(Member u, std::uint32_t rank) {
    Verifier state{.rank = rank, .standing = groups_->of_rank(rank)};
    state.probation = constants_.probation;
    place(u, state, Beginning::clean_at(state.standing.position));
  }

  // The agent verifies from now on, in the given state and with the given messages.
  void place(Member u, const Verifier& state, const Beginning& beginning) {
    u.agent = {.duty = Duty::verifying, .verifier = state, .coins = u.agent.coins};
    if (!state.error) messages_.enter(u.index, state.standing, state.generation, beginning);
  }

  // The agent, which was in this state, no longer verifies.
  void dismiss(AgentIndex u, const Verifier& state) {
    if (!state.error) messages_.leave(u);
  }

  // Protocol 2.
  VerifyOutcome interact(Member u, Member v, Choice auto& choice) {
    VerifyOutcome outcome;
    note(choice, "2: 1-2");
    for (Verifier* state : {&u.agent.verifier, &v.agent.verifier}) {
      if (state->probation > 0) --state->probation;
    }
    if (u.agent.verifier.generation == v.agent.verifier.generation) {
      note(choice, "2: 3-4");
      detect(u, v, outcome, choice);
      for (Member i : {u, v}) {
        if (!i.agent.verifier.error) continue;
        note(choice, "2: 5-8");
        handle_error(i, outcome);
      }
      return outcome;  // line 9
    }
    for (auto [i, j] : {std::pair{u, v}, std::pair{v, u}}) {  // line 10
      if (!may_follow(i.agent.verifier, j.agent.verifier)) continue;
      note(choice, "2: 10-12");
      soft_reset(i, j.agent.verifier.generation);
      ++outcome.soft_resets;
      if (constants_.reading != Reading::no_return) return outcome;  // line 12 (erratum 28)
    }
    note(choice, "2: 13");
    trigger(u, outcome);
    return outcome;
  }

  // The messages of all verifiers that are not in error.
  M& messages() { return messages_; }
  std::uint32_t signature_period(std::uint32_t group) const { return detect_.period(group); }

 private:
  void detect(Member u, Member v, VerifyOutcome& outcome, Choice auto& choice) {
    if (u.agent.verifier.error || v.agent.verifier.error) return;  // erratum 30
    outcome.cause = detect_.interact(u.agent, v.agent, u.index, v.index, messages_, choice);
    if (outcome.cause == Cause::none) return;
    for (Member i : {u, v}) {
      messages_.leave(i.index);
      i.agent.verifier.error = true;
      i.agent.verifier.signature = i.agent.verifier.counter = 1;
    }
  }

  void handle_error(Member i, VerifyOutcome& outcome) {
    if (i.agent.verifier.probation > 0) return trigger(i, outcome);
    soft_reset(i, next(i.agent.verifier.generation));
    ++outcome.soft_resets;
  }

  void soft_reset(Member i, std::uint8_t generation) {
    Verifier state = i.agent.verifier;
    dismiss(i.index, state);
    state = {.rank = state.rank, .standing = state.standing, .generation = generation};
    state.probation = constants_.probation;
    place(i, state, Beginning::clean_at(state.standing.position));
  }

  void trigger(Member i, VerifyOutcome& outcome) {
    dismiss(i.index, i.agent.verifier);
    reset_.trigger(i.agent);
    ++outcome.full_resets;
  }

  static std::uint8_t next(std::uint8_t generation) {
    return static_cast<std::uint8_t>((generation + 1u) % generations);
  }
  static bool may_follow(const Verifier& i, const Verifier& j) {
    return i.probation == 0 && next(i.generation) == j.generation;
  }

  Constants constants_;
  const Groups* groups_;
  PropagateReset reset_;
  DetectCollision detect_;
  M messages_;
};

}  // namespace conclave::protocols::electleader
