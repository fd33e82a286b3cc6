// Claims about fischer-jiang with an oracle that is always right: the safe set, spelled
// out as a walk to the left, and what the rules say about shields and leaders. An oracle that is
// right only from some interaction on is covered, since every configuration is a start.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include "conclave/model/claims.hpp"
#include "conclave/protocols/population/fischer_jiang.hpp"

namespace conclave::protocols {

// One leader; walking to the left from it, a shield comes before a bullet. A bullet beside a shield
// on the same agent is already past it, and the leader's own bullet comes last.
inline bool is_shielded_from_all(ConfigurationView<FischerJiang::State> ring) {
  const std::size_t n = ring.size();
  std::size_t leader = 0;
  while (leader < n && !ring[leader].leader) ++leader;
  if (leader == n) return false;
  if (ring[leader].shield) return true;
  for (std::size_t steps = 1; steps < n; ++steps) {
    const FischerJiang::State& met = ring[(leader + n - steps) % n];
    if (met.bullet) return false;
    if (met.shield) return true;
  }
  return false;
}

inline Claims<FischerJiang::State> claims_of(const FischerJiang& protocol) {
  using State = FischerJiang::State;
  const auto is_safe = [&protocol](ConfigurationView<State> ring) {
    return count_leaders(protocol, ring) == 1 && is_shielded_from_all(ring);
  };
  const auto has_shield = [](ConfigurationView<State> ring) {
    return std::ranges::any_of(ring, &State::shield);
  };
  const auto gains = [&protocol](const Step<State>& step) {
    return count_leaders(protocol, step.after) > count_leaders(protocol, step.before);
  };
  const auto kills = [&protocol](const Step<State>& step) {
    return count_leaders(protocol, step.after) < count_leaders(protocol, step.before);
  };
  Claims<State> claims;
  claims.from_everywhere = true;
  claims.sets = {{"S", "one leader, and to the left of it a shield before any bullet", is_safe}};
  claims.claims = {
      {"safety", "S is closed and safe", ClaimKind::safe, "S"},
      {"detection", "the engines stop in S and nowhere else", ClaimKind::equal, "S"},
      {"shields", "where there is a shield, there is one afterwards", ClaimKind::steps,
       std::string(whole_set),
       [has_shield](const Step<State>& step) {
         return !has_shield(step.before) || has_shield(step.after);
       },
       [has_shield](const Step<State>& step) { return has_shield(step.before); }},
      {"births", "a leader is made only where there is none", ClaimKind::steps,
       std::string(whole_set),
       [&protocol, gains](const Step<State>& step) {
         return !gains(step) || count_leaders(protocol, step.before) == 0;
       },
       gains},
      {"deaths", "only a bullet from the left kills, and only a leader without a shield",
       ClaimKind::steps, std::string(whole_set),
       [kills](const Step<State>& step) {
         const State& l = step.before[step.initiator];
         const State& r = step.before[step.responder];
         return !kills(step) || (l.bullet && r.leader && !r.shield);
       },
       kills},
      {"stabilization", "S is reached from every configuration with probability 1",
       ClaimKind::reached, "S"},
  };
  claims.notation = [](const State& s) {
    std::string text(1, s.leader ? 'L' : 'F');
    text += s.bullet ? 'B' : '-';
    text += s.shield ? 'S' : '-';
    return text;
  };
  return claims;
}

}  // namespace conclave::protocols
