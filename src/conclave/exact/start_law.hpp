// The law of a protocol's named start over configurations: agents draw their states one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "conclave/exact/chains.hpp"
#include "conclave/exact/configuration_index.hpp"
#include "conclave/exact/network.hpp"
#include "conclave/exact/state_table.hpp"
#include "conclave/exact/weight.hpp"

namespace conclave::exact {

using StateLaw = std::vector<std::pair<StateNumber, Weight>>;

// The states that an agent may start with.
template <PopulationProtocol P>
StateLaw law_of_agent(StateTable<P>& table, std::size_t start, AgentCount agent) {
  std::map<StateNumber, Weight> weights;
  EveryWeightedChoice choice;
  do {
    const StateNumber state = table.number(table.protocol().initial(start, agent, choice));
    const auto [entry, is_new] = weights.try_emplace(state, choice.weight());
    if (!is_new) entry->second = entry->second.plus(choice.weight());
  } while (choice.next());
  return {weights.begin(), weights.end()};
}

template <PopulationProtocol P>
std::vector<StateLaw> laws_of_agents(StateTable<P>& table, std::size_t start, std::size_t agents) {
  std::vector<StateLaw> laws;
  for (AgentCount agent = 0; agent < agents; ++agent) {
    laws.push_back(law_of_agent(table, start, agent));
  }
  return laws;
}

// The probability of every configuration of the index, which gets those that it has not yet. Takes
// time in proportion to the number of ways to draw all states. Throws Error where these are too
// many.
std::vector<double> start_law(const Network& network, const std::vector<StateLaw>& agents,
                              ConfigurationIndex& index);
std::vector<Rational> rational_start_law(const Network& network,
                                         const std::vector<StateLaw>& agents,
                                         ConfigurationIndex& index);

}  // namespace conclave::exact
