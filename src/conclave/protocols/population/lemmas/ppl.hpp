// The claims of the paper behind ppl: Definition 1 (whose two bounds are numbers: the largest
// expected convergence time and the shortest expected holding time) and what Section 3 says about
// single interactions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "conclave/model/claims.hpp"
#include "conclave/protocols/population/ppl.hpp"

namespace conclave::protocols {

namespace detail {

// Section 4, word for word, scanning all agents.
class PplSafety {
 public:
  explicit PplSafety(const Ppl& protocol) : t_max_(protocol.t_max()), t_emit_(protocol.t_emit()) {}

  using Agents = ConfigurationView<Ppl::State>;

  static std::size_t leaders(Agents agents) {
    return static_cast<std::size_t>(std::ranges::count_if(agents, &Ppl::State::leader));
  }
  bool g_half(Agents agents) const {
    return std::ranges::all_of(agents,
                               [this](const Ppl::State& s) { return 2 * s.timer_l >= t_max_; });
  }
  bool l_safe(Agents agents) const {
    return std::ranges::any_of(agents, [this](const Ppl::State& s) {
      return s.leader && s.shield && 2 * s.timer_i >= t_emit_;
    });
  }
  static bool v_clean(Agents agents) {
    return std::ranges::all_of(agents, [](const Ppl::State& s) { return s.virus == 0; });
  }
  // No leader can be killed soon.
  bool is_calm(Agents agents) const { return l_safe(agents) || v_clean(agents); }
  bool holds(Agents agents) const {
    return leaders(agents) == 1 && g_half(agents) && is_calm(agents);
  }

 private:
  std::uint32_t t_max_;
  std::uint32_t t_emit_;
};

// The sets of Section 4, by the names that `verify --target` and `--within` take.
inline std::vector<NamedSet<Ppl::State>> ppl_sets(const PplSafety& safety) {
  using Agents = PplSafety::Agents;
  return {
      {"S", "L_1 and G_half and (L_safe or V_clean)",
       [=](Agents agents) { return safety.holds(agents); }},
      {"L_n", "there is a leader", [](Agents agents) { return PplSafety::leaders(agents) > 0; }},
      {"G_half", "timer_L >= t_max/2 everywhere",
       [=](Agents agents) { return safety.g_half(agents); }},
      {"L_safe", "some leader is shielded, with timer_I >= t_emit/2",
       [=](Agents agents) { return safety.l_safe(agents); }},
      {"V_clean", "there is no virus", PplSafety::v_clean},
      {"calm", "L_safe or V_clean", [=](Agents agents) { return safety.is_calm(agents); }},
      {"led", "L_n and (L_safe or V_clean)",
       [=](Agents agents) { return PplSafety::leaders(agents) > 0 && safety.is_calm(agents); }},
      {"settled", "L_n and G_half and (L_safe or V_clean)", [=](Agents agents) {
         return PplSafety::leaders(agents) > 0 && safety.g_half(agents) && safety.is_calm(agents);
       }}};
}

// Lemma 3, of virus and timer_L: a meeting leaves both agents at least what the larger of them had,
// less one.
inline bool propagates(const Step<Ppl::State>& step) {
  const auto keeps = [&](auto member) {
    const auto larger =
        std::max(step.before[step.initiator].*member, step.before[step.responder].*member);
    return step.after[step.initiator].*member + 1 >= larger &&
           step.after[step.responder].*member + 1 >= larger;
  };
  return keeps(&Ppl::State::virus) && keeps(&Ppl::State::timer_l);
}

}  // namespace detail

inline Claims<Ppl::State> claims_of(const Ppl& protocol) {
  using State = Ppl::State;
  const detail::PplSafety safety(protocol);
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
  claims.sets = detail::ppl_sets(safety);
  claims.claims = {
      {"Lemma 3", "virus and timer_L propagate: both agents keep the larger value, less one",
       ClaimKind::steps, std::string(whole_set), detail::propagates},
      {"Lemma 14", "a safe leader, or no virus, comes from every configuration", ClaimKind::reached,
       "calm"},
      {"Lemma 17", "and then a leader with that", ClaimKind::reached, "led"},
      {"Lemma 18", "and then half-full timers with both", ClaimKind::reached, "settled"},
      {"convergence", "S is reached from every configuration with probability 1",
       ClaimKind::reached, "S"},
      {"detection", "the engines stop in S and nowhere else", ClaimKind::equal, "S"},
      {"lines 1-3", "a leader that has interacted has timer_L = t_max", ClaimKind::steps,
       std::string(whole_set), leaders_have_full_timers, has_leader},
      {"line 1", "two agents that have interacted have equal timer_L", ClaimKind::steps,
       std::string(whole_set), timers_are_equal},
      {"line 7", "only a shielded leader emits a virus, and only as initiator", ClaimKind::steps,
       std::string(whole_set), only_shielded_initiators_emit, somebody_emits}};
  claims.notation = [](const State& s) {
    std::string text(1, s.leader ? 'L' : 'F');
    text += s.shield ? 'S' : 's';
    text += 'v' + std::to_string(s.virus) + 'l' + std::to_string(s.timer_l);
    return text + 'i' + std::to_string(s.timer_i);
  };
  return claims;
}

}  // namespace conclave::protocols
