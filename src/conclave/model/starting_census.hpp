// How many agents start in which state, where that is known without asking every agent. Engines
// that keep a census need it for populations too large to visit.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "conclave/model/population.hpp"

namespace conclave {

// States with the number of agents in each; no state comes twice.
template <class State>
using Census = std::vector<std::pair<State, AgentCount>>;

// A protocol may name the census of a start; nothing where a start gives every agent its own state.
template <class P>
concept NamesCensus = PopulationProtocol<P> && requires(const P& protocol, std::size_t start) {
  { protocol.census(start) } -> std::same_as<std::optional<Census<typename P::State>>>;
};

// Nothing if only the agents, one by one, can tell.
template <PopulationProtocol P, Choice C>
std::optional<Census<typename P::State>> starting_census(const P& protocol, std::size_t start,
                                                         AgentCount n, C& choice) {
  if constexpr (NamesCensus<P>) {
    return protocol.census(start);
  } else {
    if (!P::starts[start].uniform) return std::nullopt;
    return Census<typename P::State>{{protocol.initial(start, 0, choice), n}};
  }
}

// Calls add(state, count) for all agents of a start: state by state where the census is known,
// agent by agent otherwise.
template <PopulationProtocol P, Choice C, class Add>
void for_each_starting_state(const P& protocol, std::size_t start, AgentCount n, C& choice,
                             Add&& add) {
  if (const auto census = starting_census(protocol, start, n, choice)) {
    for (const auto& [state, count] : *census) add(state, count);
    return;
  }
  for (AgentCount agent = 0; agent < n; ++agent) add(protocol.initial(start, agent, choice), 1);
}

// Whether starting_census will give one.
template <PopulationProtocol P>
bool has_starting_census(const P& protocol, std::size_t start) {
  if constexpr (NamesCensus<P>) {
    return protocol.census(start).has_value();
  } else {
    return P::starts[start].uniform;
  }
}

}  // namespace conclave
