// Faults: what can be done to the agents while a protocol runs, and when. A fault hits a set of
// agents that is drawn uniformly among those it can hit, or one agent that it names, between two
// interactions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "conclave/base/interactions.hpp"
#include "conclave/model/population.hpp"

namespace conclave {

enum class FaultKind : std::uint8_t {
  corrupt,       // random agents get arbitrary states
  zero,          // random agents get the state in which every variable is 0 or false
  kill_leaders,  // every leader becomes a follower
  make_leaders,  // random followers become leaders
};

// One fault of a plan. Amounts and times are decimal numbers of the user, rounded where agents or
// interactions are counted: halves of an agent up, parts of an interaction down.
struct Fault {
  std::string text;  // as the user gave it
  FaultKind kind = FaultKind::corrupt;
  double amount = 0;  // agents, or percent of them
  bool is_percentage = false;
  std::optional<AgentCount> agent{};  // hits this one alone, if it can; `amount` is not used
  double parallel_time = 0;           // since the start, or since the first convergence
  bool after_convergence = false;

  // How many of `candidates` agents it hits.
  AgentCount agents_hit(AgentCount n, AgentCount candidates) const {
    if (kind == FaultKind::kill_leaders) return candidates;
    if (agent) return 1;
    const double wanted = is_percentage ? amount / 100 * static_cast<double>(n) : amount;
    if (wanted >= static_cast<double>(candidates)) return candidates;
    return static_cast<AgentCount>(wanted + 0.5);
  }
};

// The consequences of one fault in one trial.
struct FaultOutcome {
  std::string text;
  Interactions at{};        // after this many interactions
  AgentCount agents = 0;    // how many it hit
  AgentCount leaders = 0;   // right after it
  bool recovered = false;   // converged again before the next fault and the end of the trial
  Interactions recovery{};  // interactions until then
};

// A protocol into which faults can be injected: it names an arbitrary state and the zero state, and
// can change an agent's output.
template <class P>
concept Corruptible = PopulationProtocol<P> &&
    requires(const P& protocol, typename P::State& state, AnyChoice& choice) {
  { protocol.arbitrary(choice) } -> std::same_as<typename P::State>;
  { protocol.zero() } -> std::same_as<typename P::State>;
  { protocol.set_role(state, Role::leader) } -> std::same_as<void>;
};

}  // namespace conclave
