// A Tally must know when its protocol has converged: the engines stop at that interaction.
#include <array>
#include <cstddef>
#include <string>
#include <tuple>
#include <vector>

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
  void interact(State& u, State& v, Choice auto&) const { v.leader = v.leader && !u.leader; }
  Role role(const State& state) const { return state.leader ? Role::leader : Role::follower; }
};
static_assert(PopulationProtocol<Fight>);

struct Tally {
  explicit Tally(const Fight& protocol);
  void add(const Fight::State& state);
  void replace(const Fight::State& u, const Fight::State& v, const Fight::State& new_u,
               const Fight::State& new_v);
  AgentCount leaders() const;
#ifndef CONCLAVE_MISTAKE
  bool converged() const;
#endif
  bool hopeless() const;
  std::vector<Observation> observations() const;
};
static_assert(TallyOf<Tally, Fight>);

}  // namespace conclave
