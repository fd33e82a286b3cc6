// The claims of the paper behind ppl: Definition 1 (whose two bounds are numbers: the largest
// expected convergence time and the shortest expected holding time) and what Section 3 says about
// single interactions.
#pragma once

#include <string>

#include "conclave/model/claims.hpp"
#include "conclave/protocols/population/ppl.hpp"

namespace conclave::protocols {

// Section 4, word for word, scanning all agents.
class PplSafety {
 public:
  explicit PplSafety(const Ppl& protocol) : t_max_(protocol.t_max()), t_emit_(protocol.t_emit()) {}

  bool holds(ConfigurationView<Ppl::State> agents) const {
    std::size_t leaders = 0;
    bool g_half = true;
    bool l_safe = false;
    bool v_clean = true;
    for (const Ppl::State& s : agents) {
      leaders += s.leader ? 1 : 0;
      g_half = g_half && 2 * s.timer_l >= t_max_;
      l_safe = l_safe || (s.leader && s.shield && 2 * s.timer_i >= t_emit_);
      v_clean = v_clean && s.virus == 0;
    }
    return leaders == 1 && g_half && (l_safe || v_clean);
  }

 private:
  std::uint32_t t_max_;
  std::uint32_t t_emit_;
};

inline Claims<Ppl::State> claims_of(const Ppl& protocol) {
  using State = Ppl::State;
  const PplSafety safety(protocol);
  const std::uint32_t t_max = protocol.t_max();
  const auto leaders_have_full_timers = [t_max](const Step<State>& step) {
    const State& u = step.after[step.initiator];
    const State& v = step.after[step.responder];
    return (!u.leader || u.timer_l == t_max) && (!v.leader || v.timer_l == t_max);
  };
  const auto has_leader = [](const Step<State>& step) {
    return step.after[step.initiator].leader || step.after[step.responder].leader;
  };
  const auto timers_are_equal = [](const Step<State>& step) {
    return step.after[step.initiator].timer_l == step.after[step.responder].timer_l;
  };
  const auto only_shielded_initiators_emit = [](const Step<State>& step) {
    const State& u = step.after[step.initiator];
    const State& v = step.after[step.responder];
    return u.virus == v.virus || (u.virus > v.virus && u.leader && u.shield);  // line 4: equal
  };
  const auto somebody_emits = [](const Step<State>& step) {
    return step.after[step.initiator].virus != step.after[step.responder].virus;
  };
  Claims<State> claims;
  claims.from_everywhere = true;
  claims.sets = {{"S", "L_1 and G_half and (L_safe or V_clean)",
                  [safety](ConfigurationView<State> agents) { return safety.holds(agents); }}};
  claims.claims = {{"convergence", "S is reached from every configuration with probability 1",
                    ClaimKind::reached, "S"},
                   {"detection", "the engines stop in S and nowhere else", ClaimKind::equal, "S"},
                   {"lines 1-3",
                    "a leader that has interacted has timer_L = t_max",
                    ClaimKind::steps,
                    std::string(whole_set),
                    leaders_have_full_timers,
                    {},
                    has_leader},
                   {"line 1", "two agents that have met have equal timer_L", ClaimKind::steps,
                    std::string(whole_set), timers_are_equal},
                   {"line 7",
                    "only a shielded leader emits a virus, and only as initiator",
                    ClaimKind::steps,
                    std::string(whole_set),
                    only_shielded_initiators_emit,
                    {},
                    somebody_emits}};
  claims.notation = [](const State& s) {
    std::string text(1, s.leader ? 'L' : 'F');
    text += s.shield ? 'S' : 's';
    text += 'v' + std::to_string(s.virus) + 'l' + std::to_string(s.timer_l);
    return text + 'i' + std::to_string(s.timer_i);
  };
  return claims;
}

}  // namespace conclave::protocols
