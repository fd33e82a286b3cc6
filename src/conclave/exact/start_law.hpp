// The law of a protocol's named start over configurations: agents draw their states one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/exact/configuration_index.hpp"
#include "conclave/exact/every_choice.hpp"
#include "conclave/exact/network.hpp"
#include "conclave/exact/state_table.hpp"

namespace conclave::exact {

using StateLaw = std::vector<std::pair<StateNumber, double>>;

// The states that an agent may start with.
template <PopulationProtocol P>
StateLaw law_of_agent(StateTable<P>& table, std::size_t start, AgentCount agent) {
  std::map<StateNumber, double> weights;
  EveryChoice choice;
  do {
    const StateNumber state = table.number(table.protocol().initial(start, agent, choice));
    weights[state] += choice.weight().as_double();
  } while (choice.next());
  return {weights.begin(), weights.end()};
}

// The probability of every configuration of the index, which gets those that it has not yet. Takes
// time in proportion to the number of ways to draw all states. Throws Error where these are too
// many.
std::vector<double> combine(const Network& network, const std::vector<StateLaw>& agents,
                            ConfigurationIndex& index);

template <PopulationProtocol P>
std::vector<double> start_law(StateTable<P>& table, const Network& network, std::size_t start,
                              ConfigurationIndex& index) {
  std::vector<StateLaw> agents;
  for (AgentCount agent = 0; agent < network.agents(); ++agent) {
    agents.push_back(law_of_agent(table, start, agent));
  }
  return combine(network, agents, index);
}

}  // namespace conclave::exact
