#include "conclave/exact/model_files.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/join_parts.hpp"
#include "conclave/base/output.hpp"
#include "conclave/chain/export.hpp"

namespace conclave::exact {
namespace {

constexpr std::size_t most_for_drawing = 200;

// A name that PRISM accepts.
std::string identifier(std::string name) {
  std::ranges::replace_if(
      name, [](char c) { return !(c == '_' || std::isalnum(static_cast<unsigned char>(c))); }, '_');
  return name;
}

chain::Labels labels_of(const ModelFiles& model) {
  chain::Labels labels;
  labels.names.emplace_back("init");
  labels.states.emplace_back();
  for (StateIndex state = 0; state < model.start.size(); ++state) {
    if (model.start[state] > 0) labels.states.back().push_back(state);
  }
  for (const auto& [name, set] : model.labels) {
    labels.names.push_back(identifier(name));
    labels.states.emplace_back();
    for (StateIndex state = 0; state < set.size(); ++state) {
      if (set.contains(state)) labels.states.back().push_back(state);
    }
  }
  return labels;
}

void write_agent_states(const ModelFiles& model, const std::string& path) {
  std::string text;
  for (std::size_t i = 0; i < model.agent_states.size(); ++i) {
    text += fmt::format("{} {}\n", i, model.agent_states[i]);
  }
  write_file(path, text);
}

std::string numbers_of(const ModelFiles& model, StateIndex state) {
  return join_parts(model.configuration(state), ",");
}

std::string words_of(const ModelFiles& model, StateIndex state) {
  std::string words;
  for (const StateNumber agent : model.configuration(state)) {
    words += (words.empty() ? "" : " ") + model.agent_states[agent];
  }
  return words;
}

}  // namespace

void write_model(const ModelFiles& model, const std::string& folder) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem)
    throw Error(fmt::format("cannot make the folder '{}': {}", folder, problem.message()));
  const std::string base = folder + "/model";
  const StateSet& target = model.labels.front().second;
  std::string variables;
  for (std::size_t i = 0; i < model.agents; ++i) {
    variables += fmt::format("{}agent{}", i == 0 ? "" : ",", i);
  }
  std::vector<double> rewards(model.chain.size());
  for (StateIndex state = 0; state < rewards.size(); ++state) {
    rewards[state] = target.contains(state) ? 0 : 1;
  }
  if (model.rational_chain != nullptr) {
    chain::write_transitions(*model.rational_chain, base + ".tra");
  } else {
    chain::write_transitions(model.chain, base + ".tra");
  }
  chain::write_labels(labels_of(model), model.chain.size(), base + ".lab");
  chain::write_state_rewards(rewards, base + ".srew");
  chain::write_states(
      variables, [&](StateIndex state) { return numbers_of(model, state); }, model.chain.size(),
      base + ".sta");
  write_agent_states(model, folder + "/agent_states.txt");
  if (model.chain.size() > most_for_drawing) return;
  chain::write_dot(
      model.chain, target, [&](StateIndex state) { return words_of(model, state); }, base + ".dot");
}

}  // namespace conclave::exact
