// A protocol of the catalog without one of its required members: the compiler says in a sentence
// which one. CONCLAVE_MISTAKE is the number of the member that is left out.
#include <array>
#include <cstddef>
#include <string>
#include <tuple>

#include "conclave/model/population.hpp"
#include "conclave/model/protocol_info.hpp"

#ifndef CONCLAVE_MISTAKE
#define CONCLAVE_MISTAKE 0
#endif

namespace conclave {

struct Fight {
#if CONCLAVE_MISTAKE != 1
  struct State {
    bool leader = true;
    friend bool operator==(const State&, const State&) = default;
    static constexpr std::tuple fields{Field{"leader", &State::leader}};
  };
#else
  using State = int;
#endif
#if CONCLAVE_MISTAKE != 2
  using Parameters = NoParameters;
#else
  struct Parameters {};
#endif
#if CONCLAVE_MISTAKE != 3
  State initial(std::size_t, AgentCount, Choice auto&) const { return {}; }
#endif
#if CONCLAVE_MISTAKE != 4
  void interact(State&, State& v, Choice auto&) const { v = {}; }
#endif
#if CONCLAVE_MISTAKE != 5
  Role role(const State&) const { return Role::leader; }
#endif
#if CONCLAVE_MISTAKE != 6
  Interactions state_count() const { return 2u; }
#endif
#if CONCLAVE_MISTAKE != 7
  static constexpr ProtocolInfo info{};
#endif
#if CONCLAVE_MISTAKE != 8
  static constexpr std::array starts{Start{"clean", "every agent is a leader"}};
#endif
#if CONCLAVE_MISTAKE != 9
  static std::string objection(const Parameters&, AgentCount) { return {}; }
#endif
#if CONCLAVE_MISTAKE != 10
  Fight(const Parameters&, AgentCount) {}
#endif
};

void check();
void check() { demand_listed_protocol<Fight>(); }

}  // namespace conclave
