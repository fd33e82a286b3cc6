// Censuses: how many agents are in which state. How many start in which, where that is known
// without asking every agent, which engines need for populations too large to visit; where else a
// trial may begin; and the names that states have outside the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conclave/base/fields.hpp"
#include "conclave/base/function_ref.hpp"
#include "conclave/base/key_index.hpp"
#include "conclave/base/sorted_positions.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/trial.hpp"

namespace conclave {

// States with the number of agents in each; no state comes twice.
template <class State>
using Census = std::vector<std::pair<State, AgentCount>>;

// Where a trial begins: at a start of the protocol, by its number, or with agents that are given as
// runs of equal ones in their order, in which a state may come several times. These must outlive
// the use, and so must `keep_going`.
template <class State>
struct StartingPoint {
  StartingPoint(std::size_t number) : start(number) {}
  StartingPoint(std::size_t number, const Census<State>* runs, const KeepGoing* asked = nullptr)
      : start(number), given(runs), keep_going(asked) {}

  std::size_t start = 0;
  const Census<State>* given = nullptr;
  const KeepGoing* keep_going = nullptr;  // called while agents are made one by one; null: never
};

// The name of a state in histories and files: the protocol's own, or its fields and values.
template <PopulationProtocol P>
std::string name_of_state(const P& protocol, const typename P::State& state) {
  if constexpr (requires { protocol.name_of(state); }) {
    return protocol.name_of(state);
  } else {
    return to_text(state);
  }
}

// The state of that name; nothing for a name that no state has. A state that a protocol packs must
// survive packing and unpacking.
template <PopulationProtocol P>
std::optional<typename P::State> state_of_name(const P& protocol, std::string_view name) {
  if constexpr (requires { protocol.state_named(name); }) {
    return protocol.state_named(name);
  } else {
    const auto state = from_text<typename P::State>(name);
    if constexpr (Packing<P>) {
      if (state && !(protocol.unpack(protocol.pack(*state)) == *state)) return std::nullopt;
    }
    return state;
  }
}

// In the order of comes_before. O(k log k) for k states.
template <class State>
void sort_by_state(Census<State>& census) {
  const auto positions = sorted_positions(census.size(), [&](std::size_t a, std::size_t b) {
    return comes_before(census[a].first, census[b].first);
  });
  Census<State> sorted;
  sorted.reserve(census.size());
  for (const std::size_t position : positions) sorted.push_back(census[position]);
  census = std::move(sorted);
}

// A function that passes the states of all agents, one by one, to its argument.
template <class State>
using StateOfAgent = FunctionRef<State(AgentCount agent)>;

// Counts equal states; in the order of the states. O(n).
template <class State>
Census<State> census_of(AgentCount n, StateOfAgent<State> state_of) {
  Census<State> result;
  KeyIndex<PlainSlot> index(50);
  const auto hash = [&](std::uint32_t place) { return hash_of(result[place].first); };
  for (AgentCount agent = 0; agent < n; ++agent) {
    const State state = state_of(agent);
    const auto [place, is_new] = index.find_or_add(
        hash_of(state), [&](std::uint32_t other) { return result[other].first == state; }, hash);
    if (is_new) result.emplace_back(state, 0);
    ++result[place].second;
  }
  sort_by_state(result);
  return result;
}

// The agents in their order, runs of equal ones counted. O(n).
template <class State>
Census<State> runs_of(AgentCount n, StateOfAgent<State> state_of) {
  Census<State> result;
  for (AgentCount agent = 0; agent < n; ++agent) {
    const State state = state_of(agent);
    if (result.empty() || !(result.back().first == state)) result.emplace_back(state, 0);
    ++result.back().second;
  }
  return result;
}

// A protocol may name the census of a start; nothing where a start gives every agent its own state.
template <class P>
concept NamesCensus = PopulationProtocol<P> && requires(const P& protocol, std::size_t start) {
  { protocol.census(start) } -> std::same_as<std::optional<Census<typename P::State>>>;
};

// Nothing if the census is known only by asking every agent.
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

// Calls add(state) for one agent after the other. Throws Interrupted if the starting point's
// keep_going returns false.
template <PopulationProtocol P, Choice C, class Add>
void for_each_starting_agent(const P& protocol, const StartingPoint<typename P::State>& point,
                             AgentCount n, C& choice, Add&& add) {
  if (point.given == nullptr) {
    for (AgentCount agent = 0; agent < n; ++agent) {
      ask_to_go_on(point.keep_going, agent);
      add(protocol.initial(point.start, agent, choice));
    }
    return;
  }
  for (const auto& [state, count] : *point.given) {
    for (AgentCount i = 0; i < count; ++i) {
      ask_to_go_on(point.keep_going, i);
      add(state);
    }
  }
}

// Calls add(state, count) for all agents of a start: state by state where the census is known,
// agent by agent otherwise.
template <PopulationProtocol P, Choice C, class Add>
void for_each_starting_state(const P& protocol, const StartingPoint<typename P::State>& point,
                             AgentCount n, C& choice, Add&& add) {
  if (point.given != nullptr) {
    for (const auto& [state, count] : *point.given) add(state, count);
    return;
  }
  if (const auto census = starting_census(protocol, point.start, n, choice)) {
    for (const auto& [state, count] : *census) add(state, count);
    return;
  }
  for_each_starting_agent(protocol, point, n, choice, [&](const auto& state) { add(state, 1); });
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
