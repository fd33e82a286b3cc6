// The agents of a trial as numbers, for pictures: their outputs and their variables, by the names
// of the paper.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "conclave/base/fields.hpp"
#include "conclave/base/interactions.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/starting_census.hpp"

namespace conclave::population {

// Row by row; a row is an agent, or a state with all agents that are in it.
struct AgentTable {
  struct Variable {
    std::string name;
    std::vector<std::string> labels{};  // of the values 0, 1, ...; none where numbers say it all
  };
  bool has_agents = false;            // row i is agent i; otherwise rows are states, in their order
  std::vector<Variable> variables{};  // the columns after the first, which is 1 for a leader
  std::vector<AgentCount> counts{};   // of a state: how many agents are in it
  std::vector<double> values{};       // rows of 1 + variables.size() numbers; exact below 2^53
};

// The next interaction that is not known to be null, and who meets in it, where the engine knows.
// For an engine that does not jump it is the very next one.
struct NextMeeting {
  Interactions number{};  // Interactions::max() if nothing changes any more
  std::optional<std::pair<AgentCount, AgentCount>> agents{};  // initiator, responder
};

// The columns of a table after the first, which says who leads: the fields of a state, or those
// that the protocol names.
template <PopulationProtocol P>
std::vector<AgentTable::Variable> table_variables(const P& protocol) {
  std::vector<AgentTable::Variable> result;
  if constexpr (requires { protocol.table_variables(result); }) {
    protocol.table_variables(result);
  } else {
    std::apply([&](const auto&... field) { (result.push_back({std::string(field.name)}), ...); },
               P::State::fields);
  }
  return result;
}

// One row: 1 for a leader, then the value of each variable, rounded to double.
template <PopulationProtocol P>
void append_row(const P& protocol, const typename P::State& state, std::vector<double>& values) {
  values.push_back(protocol.role(state) == Role::leader ? 1 : 0);
  if constexpr (requires { protocol.append_values(state, values); }) {
    protocol.append_values(state, values);
  } else {
    const auto append = [&](const auto& field) {
      values.push_back(static_cast<double>(as_integer(state.*field.member)));
    };
    std::apply([&](const auto&... field) { (append(field), ...); }, P::State::fields);
  }
}

// For protocols that own their configuration; finds `table_values` and `table_column` beside the
// type of the agents.
template <class Configuration>
AgentTable table_of_configuration(const Configuration& configuration) {
  AgentTable table{.has_agents = true};
  if (configuration.size() == 0) return table;
  const auto first = table_values(configuration.agent(0));
  for (std::size_t i = 0; i < first.size(); ++i) {
    const auto [name, labels] = table_column(configuration.agent(0), i);
    table.variables.push_back({std::string(name), {labels.begin(), labels.end()}});
  }
  for (AgentCount agent = 0; agent < configuration.size(); ++agent) {
    table.values.push_back(configuration.is_leader(agent) ? 1 : 0);
    const auto values = table_values(configuration.agent(agent));
    table.values.insert(table.values.end(), values.begin(), values.end());
  }
  return table;
}

// Rows are agents, in their order. O(n) time and memory.
template <PopulationProtocol P>
AgentTable table_of_agents(const P& protocol, AgentCount n,
                           StateOfAgent<typename P::State> state_of) {
  AgentTable table{.has_agents = true, .variables = table_variables(protocol)};
  table.values.reserve(n * (1 + table.variables.size()));
  for (AgentCount agent = 0; agent < n; ++agent) {
    append_row(protocol, state_of(agent), table.values);
  }
  return table;
}

// Rows are the occupied states, in their order, each with its number of agents.
template <PopulationProtocol P>
AgentTable table_of_census(const P& protocol, Census<typename P::State> census) {
  AgentTable table{.variables = table_variables(protocol)};
  sort_by_state(census);
  for (const auto& [state, count] : census) {
    table.counts.push_back(count);
    append_row(protocol, state, table.values);
  }
  return table;
}

// O(n) for an engine that knows its agents, O(states) for others.
template <class E>
AgentTable table_of(const E& engine) {
  if constexpr (requires { engine.configuration(); }) {
    return table_of_configuration(engine.configuration());
  } else if constexpr (requires { engine.state(AgentCount{}); }) {
    return table_of_agents(engine.protocol(), engine.size(),
                           [&](AgentCount agent) { return engine.state(agent); });
  } else {
    return table_of_census(engine.protocol(), engine.census());
  }
}

}  // namespace conclave::population
