// Cai, Izumi, Wada: How to Prove Impossibility Under Global Fairness. Theory of Computing Systems
// 50(3), 2012. Silent self-stabilizing ranking with as few states as there are agents: where two
// agents of the same rank meet, the responder moves on to the next rank, modulo n.
//
// A rank that is occupied stays occupied, since whoever moves leaves a partner behind. The agents
// are like cars that look for a place to park on a circle: how many moves it takes depends on the
// start alone, not on the order of the meetings (lemmas/ciw.hpp), and is at most n(n-1)/2.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>

#include "conclave/model/population.hpp"
#include "conclave/model/protocol_info.hpp"
#include "conclave/model/steps.hpp"
#include "conclave/protocols/population/detail/rank_tally.hpp"

namespace conclave::protocols {

class Ciw {
 public:
  struct State {
    std::uint32_t rank = 0;  // 0 leads
    friend bool operator==(const State&, const State&) = default;
    static constexpr std::tuple fields{Field{"rank", &State::rank}};
  };

  using Parameters = NoParameters;

  // Soon few agents share a rank, and no other agent changes its state.
  static constexpr bool is_mostly_null = true;

  static constexpr std::array variables{
      Variable{"rank", "{0 ... n-1}", "the output; rank 0 leads"},
  };
  static constexpr std::array errata{
      Erratum{"1", "the rule",
              "the responder moves; that the initiator does has the same law, for both orders of a "
              "pair are equally likely"},
      Erratum{"2", "the output",
              "rank 0 leads; another choice renames the ranks and changes no time"},
  };
  static constexpr std::array steps{
      PseudocodeStep{
          "1",
          "two agents of the same rank: the responder moves on to the next, after the last "
          "to rank 0",
          "rank"},
  };
  static constexpr ProtocolInfo info{
      .name = "ciw",
      .title = "silent ranking with n states: of two equal ranks one moves on, modulo n",
      .paper = "S. Cai, T. Izumi, K. Wada: How to Prove Impossibility Under Global Fairness: On "
               "Space Complexity of Self-Stabilizing Leader Election on a Population Protocol "
               "Model. Theory of Computing Systems 50(3), 2012",
      .source = Source::second_hand,
      .version = "the abstract, and the rule as later papers state it",
      .problem = Problem::ranking,
      .network = "complete graph",
      .only_there = "agents of the same rank that never interact would both keep it",
      .convergence = "all ranks are different, and nothing changes any more",
      .bound = "Theta(n^2) parallel time",
      .closed_form = "n (n-1)^2 / 2 interactions from start barrier",
      .states = "n",
      .demo_n = 1000,
      .variables = variables,
      .observables = {},
      .errata = errata,
      .steps = steps,
  };

  // The places of `starts`.
  enum StartIndex : std::size_t { random, equal, barrier, pairs, correct };
  static constexpr std::array starts{
      Start{"random", "every rank uniform"},
      Start{"equal", "all agents have rank 0", true},
      Start{"barrier", "ranks 0, 0, 1, ..., n-2: one agent must be pushed past all others"},
      Start{"pairs", "ranks 0, 0, 2, 2, 4, 4, ...: every second rank is missing"},
      Start{"correct", "all ranks are different"},
  };

  static constexpr AgentCount most_size = AgentCount{1} << 24;  // a trial counts agents by rank

  static std::string objection(const Parameters&, AgentCount n) {
    if (n <= most_size) return {};
    return "n = " + std::to_string(n) +
           " is too large for ciw, whose n states are counted one by "
           "one up to n = 2^24";
  }
  constexpr Ciw(const Parameters&, AgentCount n) : n_(static_cast<std::uint32_t>(n)) {}

  constexpr State initial(std::size_t start, AgentCount agent, Choice auto& choice) const {
    const auto i = static_cast<std::uint32_t>(agent);
    switch (start) {
      case equal:
        return {};
      case barrier:
        return {.rank = i - (i > 0 ? 1u : 0u)};
      case pairs:
        return {.rank = i - i % 2};
      case correct:
        return {.rank = i};
      default:
        return arbitrary(choice);
    }
  }
  constexpr State arbitrary(Choice auto& choice) const { return {.rank = choice.below(n_)}; }

  constexpr void interact(State& u, State& v, Choice auto& choice) const {
    if (u.rank != v.rank) return;
    note(choice, "1");
    v.rank = v.rank + 1 == n_ ? 0 : v.rank + 1;
  }

  State zero() const { return {}; }
  // A leader that must not be one moves on.
  void set_role(State& s, Role role) const { s.rank = role == Role::leader ? 0 : 1; }
  constexpr Role role(const State& s) const { return s.rank == 0 ? Role::leader : Role::follower; }

  Interactions state_count() const { return n_; }

  // Ranks are counted from 0, and all agents have one.
  constexpr std::uint32_t ranks() const { return n_; }
  constexpr std::uint32_t place_of(const State& s) const { return s.rank; }
  using Tally = detail::RankTally<Ciw>;

 private:
  std::uint32_t n_;
};
static_assert(CensusTallyOf<Ciw::Tally, Ciw>);

}  // namespace conclave::protocols
