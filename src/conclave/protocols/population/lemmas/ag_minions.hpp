// The claims that make ag-minions a leader election; the invariant is our proof of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "conclave/model/claims.hpp"
#include "conclave/protocols/population/ag_minions.hpp"

namespace conclave::protocols {

inline Claims<AgMinions::State> claims_of(const AgMinions& protocol) {
  using State = AgMinions::State;
  const auto leaders_are_ahead = [](ConfigurationView<State> agents) {
    std::uint32_t leader = 0;
    std::uint32_t minion = 0;
    for (const State& s : agents) {
      std::uint32_t& largest = s.leader ? leader : minion;
      largest = std::max(largest, s.value);
    }
    return leader > minion;
  };
  const auto has_minion = [&protocol](ConfigurationView<State> agents) {
    return count_leaders(protocol, agents) < agents.size();
  };
  Claims<State> claims;
  claims.sets = {
      {"ahead", "the largest value of a leader exceeds those of all minions", leaders_are_ahead}};
  claims.claims = resigning_claims(protocol);
  claims.claims.push_back(Claim<State>::everywhere(
      "invariant", "some leader has a larger value than every minion", "ahead", has_minion));
  claims.claims.push_back({"safety", "with one leader left, outputs never change again",
                           ClaimKind::safe, std::string(converged_set)});
  claims.notation = [](const State& s) { return (s.leader ? '+' : '-') + std::to_string(s.value); };
  return claims;
}

}  // namespace conclave::protocols
