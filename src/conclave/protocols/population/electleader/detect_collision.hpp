// DetectCollision_r (Protocol 3 with Protocols 12, 13, 14): finds out that two agents have the same
// rank. Every rank governs messages that circulate in its group; a governor stamps those it meets
// with a signature that changes from time to time, and remembers. A message found twice, or with
// another content than remembered, proves that some rank is there twice, or that memory was bad.
#pragma once

#include <cstdint>
#include <vector>

#include "conclave/base/choice.hpp"
#include "conclave/model/steps.hpp"
#include "conclave/protocols/population/electleader/agent.hpp"
#include "conclave/protocols/population/electleader/messages.hpp"

namespace conclave::protocols::electleader {

// Why an error is raised.
enum class Cause : std::uint8_t { none, same_rank, message_twice, wrong_content };

class DetectCollision {
 public:
  // The groups must outlive it.
  DetectCollision(const Constants& constants, const Groups& groups)
      : constants_(constants), groups_(&groups) {
    for (std::uint32_t group = 0; group < groups.count(); ++group) {
      periods_.push_back(constants.signature_period(groups.size_of(group)));
    }
  }

  // In-group interactions between two signatures.
  std::uint32_t period(std::uint32_t group) const { return periods_[group]; }

  // The first reason to raise an error, if any; otherwise messages are updated and balanced. Both
  // agents are of one generation and not in error; u and v name them in the message system.
  template <MessageSystem M>
  Cause interact(Agent& a, Agent& b, AgentIndex u, AgentIndex v, M& messages,
                 Choice auto& choice) const {
    if (a.verifier.standing.group != b.verifier.standing.group) return Cause::none;  // lines 1-2
    const Cause cause = error_between(a, b, u, v, messages);
    note(choice, cause != Cause::none ? "3: 3-5" : "3: 6-7");
    if (cause != Cause::none) return cause;
    update_messages(a, u, v, messages, choice);  // line 6
    update_messages(b, v, u, messages, choice);
    messages.balance(u, v);  // line 7
    return Cause::none;
  }

 private:
  // Lines 3-5.
  template <MessageSystem M>
  static Cause error_between(const Agent& a, const Agent& b, AgentIndex u, AgentIndex v,
                             M& messages) {
    if (a.verifier.rank == b.verifier.rank) return Cause::same_rank;
    if (messages.share_one(u, v)) return Cause::message_twice;
    if (messages.contradict(u, v) || messages.contradict(v, u)) return Cause::wrong_content;
    return Cause::none;
  }

  // Protocol 13.
  template <MessageSystem M>
  void update_messages(Agent& a, AgentIndex u, AgentIndex v, M& messages,
                       Choice auto& choice) const {
    Verifier& state = a.verifier;
    ++state.counter;                                        // line 1
    if (state.counter >= periods_[state.standing.group]) {  // line 2
      const MessageSpace& space = groups_->space_of(state.standing.group);
      state.signature = draw_signature(space, constants_.derandomize, a.coins, choice);  // line 3
      state.counter = 1;                                                                 // line 4
      messages.refresh(u, state.signature);  // lines 5-8
    }
    messages.update(u, v, state.signature);  // lines 9-12
  }

  Constants constants_;
  const Groups* groups_;
  std::vector<std::uint32_t> periods_;
};

}  // namespace conclave::protocols::electleader
