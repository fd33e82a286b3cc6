// Writes a verified chain to a folder of files that other tools read.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "conclave/exact/configuration_index.hpp"
#include "conclave/exact/pair_outcomes.hpp"

namespace conclave::exact {

// The contents of the files. The chains are not owned and must outlive the call of write_model.
struct ModelFiles {
  const MarkovChain& chain;
  const RationalChain* rational_chain;  // the same chain without rounding, or null
  std::size_t agents;
  // The agents' states in a configuration, by numbers.
  std::function<std::vector<StateNumber>(StateIndex)> configuration;
  std::vector<std::string> agent_states;                 // the notation of each state, by number
  std::vector<std::pair<std::string, StateSet>> labels;  // the first is the target
  std::vector<double> start;                             // its support is labelled "init"
};

// Writes model.tra, model.sta, model.lab and model.srew (1 per interaction before the target) for
// PRISM and Storm, with fractions if there is a rational chain; agent_states.txt, which says what
// the numbers in model.sta stand for; and model.dot for chains of at most 200 states. Makes the
// folder if need be. Throws Error if a file cannot be written.
void write_model(const ModelFiles& model, const std::string& folder);

}  // namespace conclave::exact
