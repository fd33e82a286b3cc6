// The claims about timers: Definition 1 of the paper behind ppl (whose two bounds are numbers:
// the largest expected convergence time and the shortest expected holding time), and what its rules
// say about single interactions.
#pragma once

#include <algorithm>
#include <string>

#include "conclave/model/claims.hpp"
#include "conclave/protocols/population/timers.hpp"

namespace conclave::protocols {

inline Claims<Timers::State> claims_of(const Timers& protocol) {
  using State = Timers::State;
  const std::uint32_t t_max = protocol.t_max();
  const auto is_safe = [&protocol, t_max](ConfigurationView<State> agents) {
    const auto is_early = [t_max](const State& s) { return 2 * std::uint64_t{s.timer} >= t_max; };
    return count_leaders(protocol, agents) == 1 && std::ranges::all_of(agents, is_early);
  };
  const auto timers_are_equal = [](const Step<State>& step) {
    return step.after[step.initiator].timer == step.after[step.responder].timer;
  };
  const auto met_a_leader = [](const Step<State>& step) {
    return step.before[step.initiator].leader || step.before[step.responder].leader;
  };
  const auto one_leads_with_full_timer = [t_max, met_a_leader](const Step<State>& step) {
    const State& x = step.after[step.initiator];
    const State& y = step.after[step.responder];
    return !met_a_leader(step) || (x.leader != y.leader && x.timer == t_max);
  };
  Claims<State> claims;
  claims.from_everywhere = true;
  claims.sets = {{"S", "one leader, and timer >= t_max/2 everywhere", is_safe}};
  claims.claims = {
      {"convergence", "S is reached from every configuration with probability 1",
       ClaimKind::reached, "S"},
      {"detection", "the engines stop in S and nowhere else", ClaimKind::equal, "S"},
      {"timers", "two agents that have interacted have equal timers", ClaimKind::steps,
       std::string(whole_set), timers_are_equal},
      {"leaders", "of two agents one of which led, one leads, and the timers are full",
       ClaimKind::steps, std::string(whole_set), one_leads_with_full_timer, met_a_leader}};
  claims.notation = [](const State& s) { return (s.leader ? 'L' : 'F') + std::to_string(s.timer); };
  return claims;
}

}  // namespace conclave::protocols
