// Lemmas 4, 5 and 11 of the paper behind pll and pll-sym, and that it stabilizes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "conclave/model/claims.hpp"
#include "conclave/protocols/population/pll.hpp"

namespace conclave::protocols {

// The numbers of agents in the groups of a configuration.
template <class State>
struct PllGroups {
  std::size_t agents = 0;
  std::size_t leaders = 0;
  std::size_t a = 0;
  std::size_t b = 0;

  explicit PllGroups(ConfigurationView<State> configuration) {
    for (const State& s : configuration) {
      ++agents;
      leaders += s.leader ? 1 : 0;
      a += s.is_a() ? 1 : 0;
      b += s.is_b() ? 1 : 0;
    }
  }

  bool has_status() const { return a + b > 0; }
  bool all_have_status() const { return a + b == agents; }
  bool has_timer() const { return b >= 1 || a == 0; }
  // Lemma 5; true as long as some agent has no status.
  bool is_balanced() const {
    return !all_have_status() || (2 * a >= agents && 2 * (agents - leaders) >= agents);
  }
  bool has_leader() const { return leaders >= 1; }
};

// The claims of both variants.
template <class P>
Claims<typename P::State> pll_claims(const P& protocol) {
  using State = typename P::State;
  const auto in = [](bool (PllGroups<State>::*contains)() const) {
    return [=](ConfigurationView<State> agents) { return (PllGroups<State>(agents).*contains)(); };
  };
  Claims<State> claims;
  claims.sets = {{"timer", "once an agent has got its status, a timer exists",
                  in(&PllGroups<State>::has_timer)},
                 {"balance", "once all agents have got their status, half are A, half followers",
                  in(&PllGroups<State>::is_balanced)},
                 {"leader", "a leader exists", in(&PllGroups<State>::has_leader)}};
  claims.claims = {
      Claim<State>::everywhere("Lemma 4", "after the first statuses, V_B is never empty", "timer",
                               in(&PllGroups<State>::has_status)),
      Claim<State>::everywhere("Lemma 5",
                               "once all agents have their status, |V_A| >= n/2 and |V_F| >= n/2",
                               "balance", in(&PllGroups<State>::all_have_status)),
      {"Lemma 11", "there is always a leader", ClaimKind::everywhere, "leader"},
      {"S_PLL", "with one leader left, outputs never change again", ClaimKind::safe,
       std::string(converged_set)}};
  for (auto& claim : resigning_claims(protocol)) claims.claims.push_back(std::move(claim));
  return claims;
}

// "L A 1 0 . 2": output, status, epoch, colour, done, the variable of its group.
template <class State>
std::string pll_notation(const State& s, std::string_view statuses) {
  std::string text(1, s.leader ? 'L' : 'F');
  text += statuses[static_cast<std::size_t>(s.status)];
  text += std::to_string(s.epoch) + "abc"[s.color];
  text += s.done ? '!' : '.';
  return text + std::to_string(s.variable);
}

inline Claims<Pll::State> claims_of(const Pll& protocol) {
  Claims<Pll::State> claims = pll_claims(protocol);
  claims.notation = [](const Pll::State& s) { return pll_notation(s, "XAB"); };
  return claims;
}

}  // namespace conclave::protocols
