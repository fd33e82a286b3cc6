// The probability distribution of a protocol's named start over configurations: each agent draws
// its state independently of the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "conclave/base/progress.hpp"
#include "conclave/exact/configuration_index.hpp"
#include "conclave/exact/network.hpp"
#include "conclave/exact/state_table.hpp"
#include "conclave/exact/weight.hpp"

namespace conclave::exact {

// The distribution of one agent's state: each state once, with its probability.
using StateLaw = std::vector<std::pair<StateNumber, Weight>>;

// The distribution of an agent's state at a start, by its index among the protocol's starts. Adds
// new states to the table.
StateLaw law_of_agent(NumberedStates& table, std::size_t start, AgentCount agent);

// The probability of every configuration of the index at the start; configurations that have no
// number yet get one. Takes time in proportion to the number of ways to draw all states; throws
// Error if these are more than 2e9, and Interrupted. The first is rounded, the second is exact.
std::vector<double> start_law(const Network& network, const std::vector<StateLaw>& agents,
                              ConfigurationIndex& index, const ProgressCallback& progress = {});
std::vector<Rational> rational_start_law(const Network& network,
                                         const std::vector<StateLaw>& agents,
                                         ConfigurationIndex& index,
                                         const ProgressCallback& progress = {});

}  // namespace conclave::exact
