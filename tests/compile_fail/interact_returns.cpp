// A protocol's transition function changes the states and returns nothing.
#include <array>
#include <cstddef>
#include <string>
#include <tuple>

#include "conclave/model/population.hpp"
#include "conclave/model/protocol_info.hpp"

namespace conclave {

struct Fight {
  struct State {
    bool leader = true;
    friend bool operator==(const State&, const State&) = default;
    static constexpr std::tuple fields{Field{"leader", &State::leader}};
  };
  using Parameters = NoParameters;

  static constexpr ProtocolInfo info{};
  static constexpr std::array starts{Start{"clean", "every agent is a leader"}};
  static std::string objection(const Parameters&, AgentCount) { return {}; }
  Fight(const Parameters&, AgentCount) {}

  State initial(std::size_t, AgentCount, Choice auto&) const { return {}; }
#ifdef CONCLAVE_MISTAKE
  bool interact(State& u, State& v, Choice auto&) const { return v.leader = v.leader && !u.leader; }
#else
  void interact(State& u, State& v, Choice auto&) const { v.leader = v.leader && !u.leader; }
#endif
  Role role(const State& state) const { return state.leader ? Role::leader : Role::follower; }
};
static_assert(PopulationProtocol<Fight>);

}  // namespace conclave
