// A verified chain as a folder of files for other tools.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "conclave/exact/chains.hpp"
#include "conclave/exact/pair_outcomes.hpp"

namespace conclave::exact {

struct ModelFiles {
  const MarkovChain& chain;
  const RationalChain* rational_chain;  // the same without rounding, or null
  std::size_t agents;
  std::function<std::vector<StateNumber>(StateIndex)> configuration;
  std::vector<std::string> agent_states;                 // by number, in words
  std::vector<std::pair<std::string, StateSet>> labels;  // the first is the target
  std::vector<double> start;                             // its support is labelled "init"
};

// Writes model.tra, model.sta, model.lab, model.srew (1 per interaction before the target), for
// PRISM and Storm, with fractions if there is a rational chain; agent_states.txt, which tells what
// the numbers in model.sta stand for; and model.dot if it is small. Throws Error if the folder
// cannot be written.
void write_model(const ModelFiles& model, const std::string& folder);

}  // namespace conclave::exact
