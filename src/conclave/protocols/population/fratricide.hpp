// Angluin, Aspnes, Diamadi, Fischer, Peralta: Computation in networks of passively mobile
// finite-state sensors. Distributed Computing 18(4), 2006. Two leaders meet, the responder resigns.
// From n leaders, exactly one is left after (n-1)^2 interactions in expectation.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <tuple>

#include "conclave/model/population.hpp"
#include "conclave/model/protocol_info.hpp"
#include "conclave/model/steps.hpp"

namespace conclave::protocols {

struct Fratricide {
  struct State {
    bool leader = true;
    friend bool operator==(const State&, const State&) = default;
    static constexpr std::tuple fields{Field{"leader", &State::leader}};
  };

  using Parameters = NoParameters;

  // Soon only leaders that meet each other matter, and they are few: made for jumping.
  static constexpr bool is_mostly_null = true;

  static constexpr std::array variables{
      Variable{"leader", "{false, true}", "the output; initially true"},
  };
  static constexpr std::array steps{
      PseudocodeStep{"1", "two leaders interact: the responder resigns", "leader"},
  };
  static constexpr ProtocolInfo info{
      .name = "fratricide",
      .title = "of two leaders that interact one resigns: the two-state baseline",
      .paper = "D. Angluin, J. Aspnes, Z. Diamadi, M. J. Fischer, R. Peralta: Computation in "
               "networks of passively mobile finite-state sensors. Distributed Computing 18(4), "
               "2006",
      .source = Source::second_hand,
      .version = "as the paper behind pll describes it, whose BackUp contains it",
      .network = "complete graph",
      .only_there = "leaders that never interact would both stay",
      .convergence = "stabilization: exactly one leader is left",
      .bound = "(n-1)^2 interactions",
      .states = "2",
      .demo_n = 10'000'000,
      .variables = variables,
      .observables = {},
      .errata = {},
      .steps = steps,
  };
  static constexpr std::array starts{Start{"clean", "every agent is a leader", true}};

  static std::string objection(const Parameters&, AgentCount) { return {}; }
  constexpr Fratricide(const Parameters&, AgentCount) {}

  constexpr State initial(std::size_t, AgentCount, Choice auto&) const { return {}; }
  constexpr State arbitrary(Choice auto& choice) const { return {.leader = choice.chance(1, 2)}; }

  constexpr void interact(State& u, State& v, Choice auto& choice) const {
    note(choice, "1", u.leader && v.leader);
    // "If both lead, v resigns", without a branch, which could not be predicted at the start.
    v.leader = static_cast<bool>(v.leader & !u.leader);
  }

  State zero() const { return {.leader = false}; }
  void set_role(State& s, Role role) const { s.leader = role == Role::leader; }
  constexpr Role role(const State& s) const { return s.leader ? Role::leader : Role::follower; }

  Interactions state_count() const { return 2u; }
};

}  // namespace conclave::protocols
