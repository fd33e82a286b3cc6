// Leaders that walk and merge, for any strongly connected graph: whoever initiates passes its
// leadership on to the responder, and where two leaders meet, one is left. The idea is the leader
// election by walking tokens of D. Angluin, J. Aspnes, M. J. Fischer, H. Jiang: Self-stabilizing
// population protocols. ACM Transactions on Autonomous and Adaptive Systems 3(4), 2008.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <tuple>

#include "conclave/model/population.hpp"
#include "conclave/model/protocol_info.hpp"
#include "conclave/model/steps.hpp"

namespace conclave::protocols {

struct Coalescence {
  struct State {
    bool leader = true;
    friend bool operator==(const State&, const State&) = default;
    static constexpr std::tuple fields{Field{"leader", &State::leader}};
  };

  using Parameters = NoParameters;
  static constexpr Topology topology = Topology::any;
  static constexpr bool is_mostly_null = true;

  static constexpr std::array variables{
      Variable{"leader", "{false, true}", "the output; initially true"},
  };
  static constexpr std::array steps{
      PseudocodeStep{
          "1",
          "a leader initiates: the leadership moves to the responder; where that one leads "
          "already, the two merge",
          "leader"},
  };
  static constexpr ProtocolInfo info{
      .name = "coalescence",
      .title = "leaders walk along the arcs and merge on contact: strongly connected graphs",
      .paper = "after D. Angluin, J. Aspnes, M. J. Fischer, H. Jiang: Self-stabilizing population "
               "protocols. ACM Transactions on Autonomous and Adaptive Systems 3(4), 2008",
      .network = "any graph",
      .convergence = "exactly one leader is left (it walks on)",
      .bound = "",
      .closed_form = "(n-1)^2 interactions on the complete graph, C(n+1,3) on a ring",
      .states = "2",
      .demo_n = 2000,
      .variables = variables,
      .observables = {},
      .errata = {},
      .steps = steps,
  };
  static constexpr std::array starts{Start{"clean", "every agent is a leader", true}};

  static std::string objection(const Parameters&, AgentCount) { return {}; }
  constexpr Coalescence(const Parameters&, AgentCount) {}

  constexpr State initial(std::size_t, AgentCount, Choice auto&) const { return {}; }
  constexpr State arbitrary(Choice auto& choice) const { return {.leader = choice.chance(1, 2)}; }
  State zero() const { return {.leader = false}; }

  constexpr void interact(State& u, State& v, Choice auto& choice) const {
    note(choice, "1", u.leader);
    v.leader = static_cast<bool>(v.leader | u.leader);
    u.leader = false;
  }

  void set_role(State& s, Role role) const { s.leader = role == Role::leader; }
  constexpr Role role(const State& s) const { return s.leader ? Role::leader : Role::follower; }

  Interactions state_count() const { return 2u; }
};

}  // namespace conclave::protocols
