// The claims about ciw, with our own: the number of moves to a ranking is known from the start.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "conclave/protocols/population/ciw.hpp"
#include "conclave/protocols/population/lemmas/silence.hpp"

namespace conclave::protocols {

// How many moves lead from a configuration to a ranking. With c_r agents of rank r, the moves from
// rank r to r + 1 are those from r - 1 to r plus c_r - 1: one agent stays. This settles all of them
// up to a constant, and some rank is never left (the one that is taken last), so the least is 0.
inline std::int64_t moves_left(ConfigurationView<Ciw::State> agents) {
  std::vector<std::int64_t> surplus(agents.size(), -1);
  for (const Ciw::State& s : agents) ++surplus[s.rank];
  std::int64_t moves = 0;
  std::int64_t least = 0;
  std::int64_t sum = 0;
  for (const std::int64_t each : surplus) {
    moves += each;
    least = std::min(least, moves);
    sum += moves;
  }
  return sum - least * static_cast<std::int64_t>(agents.size());
}

inline Claims<Ciw::State> claims_of(const Ciw& protocol) {
  using State = Ciw::State;
  using Agents = ConfigurationView<State>;
  Claims<State> claims = silent_ranking_claims(protocol);
  claims.sets.push_back({"few moves", "at most n (n-1) / 2 moves are left", [](Agents agents) {
                           const auto n = static_cast<std::int64_t>(agents.size());
                           return moves_left(agents) <= n * (n - 1) / 2;
                         }});
  const auto keeps_ranks = [](const Step<State>& step) {
    return std::ranges::all_of(step.before, [&](const State& s) {
      return std::ranges::find(step.after, s) != step.after.end();
    });
  };
  const auto moves = [](const Step<State>& step) {
    return step.before[step.responder] != step.after[step.responder];
  };
  const auto one_move_less = [moves](const Step<State>& step) {
    return moves_left(step.after) == moves_left(step.before) - (moves(step) ? 1 : 0);
  };
  claims.claims.push_back({"occupied ranks", "a rank that is taken stays taken", ClaimKind::steps,
                           std::string(whole_set), keeps_ranks});
  claims.claims.push_back(
      {"moves", "every move is one of a number that the initial configuration determines",
       ClaimKind::steps, std::string(whole_set), one_move_less, moves});
  claims.claims.push_back(
      {"most moves", "that number is at most n (n-1) / 2", ClaimKind::everywhere, "few moves"});
  claims.notation = [](const State& s) { return std::to_string(s.rank); };
  return claims;
}

}  // namespace conclave::protocols
