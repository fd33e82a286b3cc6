// The claims of silent rankings: the agents end with all ranks different, and then no interaction
// changes any state; nowhere else is a configuration silent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "conclave/base/check.hpp"
#include "conclave/model/claims.hpp"

namespace conclave::protocols {

// For protocols that make no random choices.
struct NoChoice {
  std::uint32_t below(std::uint32_t) {
    constexpr bool is_deterministic = false;
    CONCLAVE_CHECK(is_deterministic);
    return 0;
  }
  bool chance(std::uint32_t, std::uint32_t) { return below(2) == 1; }
};

// Whether no interaction of two of these agents changes anything, by trying all of them.
// O(agents^2).
template <PopulationProtocol P>
bool is_silent(const P& protocol, ConfigurationView<typename P::State> agents) {
  NoChoice choice;
  for (std::size_t i = 0; i < agents.size(); ++i) {
    for (std::size_t j = 0; j < agents.size(); ++j) {
      if (i == j) continue;
      typename P::State u = agents[i];
      typename P::State v = agents[j];
      protocol.interact(u, v, choice);
      if (u != agents[i] || v != agents[j]) return false;
    }
  }
  return true;
}

// Whether every rank is taken.
template <PopulationProtocol P>
bool is_ranking(const P& protocol, ConfigurationView<typename P::State> agents) {
  std::vector<bool> taken(agents.size());
  for (const auto& agent : agents) {
    const std::uint32_t place = protocol.place_of(agent);
    if (place >= agents.size() || taken[place]) return false;
    taken[place] = true;
  }
  return true;
}

// The claims of a silent self-stabilizing ranking, which must outlive them.
template <PopulationProtocol P>
Claims<typename P::State> silent_ranking_claims(const P& protocol) {
  using State = typename P::State;
  using Agents = ConfigurationView<State>;
  Claims<State> claims;
  claims.from_everywhere = true;
  claims.sets = {{"ranking", "the agents have all ranks, each once",
                  [&protocol](Agents agents) { return is_ranking(protocol, agents); }},
                 {"silent", "no interaction changes any state",
                  [&protocol](Agents agents) { return is_silent(protocol, agents); }}};
  claims.claims = {
      {"stabilization", "a ranking is reached from every configuration with probability 1",
       ClaimKind::reached, "ranking"},
      {"detection", "the engines stop at a ranking and nowhere else", ClaimKind::equal, "ranking"},
      {"silence", "rankings are silent, and nothing else is", ClaimKind::equal, "silent"},
      {"safety", "a ranking has one leader, which stays", ClaimKind::safe, "ranking"}};
  return claims;
}

}  // namespace conclave::protocols
