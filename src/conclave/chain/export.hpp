// Writes chains for other tools: PRISM's explicit files, its modelling language, and Graphviz.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "conclave/chain/explicit_files.hpp"
#include "conclave/chain/markov_chain.hpp"
#include "conclave/chain/rational_chain.hpp"

namespace conclave::chain {

// Explicit files, one function each. Probabilities have as many digits as they need to be read back
// bit for bit. All replace what is there, take linear time, and throw Error if the file cannot be
// written.
void write_transitions(const MarkovChain& chain, const std::string& path);
void write_transitions(const RationalChain& chain, const std::string& path);  // as fractions
void write_labels(const Labels& labels, std::size_t states, const std::string& path);
void write_state_rewards(std::span<const double> rewards, const std::string& path);

// A .sta file: the variables' names, then per state their values, comma separated.
using StateText = std::function<std::string(StateIndex)>;
void write_states(const std::string& variables, const StateText& values, std::size_t states,
                  const std::string& path);

// A Graphviz drawing, targets as double circles. Throws Error above 200 states: larger drawings are
// not readable.
void write_dot(const MarkovChain& chain, const StateSet& target, const StateText& name,
               const std::string& path);

// A protocol as a table: agents in state `initiator` that meet agents in state `responder`, in this
// order, become the two states after with the given weight; for every ordered pair the weights of
// its rules sum to `total_weight` or less, and in what is left nothing happens.
struct TableProtocol {
  std::vector<std::string> states;            // identifiers in PRISM's sense
  std::vector<std::uint64_t> initial_counts;  // agents per state
  struct Rule {
    std::size_t initiator, responder;
    std::size_t initiator_after, responder_after;
    std::uint64_t weight = 1;
  };
  std::vector<Rule> rules;
  std::uint64_t total_weight = 1;
  std::string target;  // an expression over the counts, for example "leader = 1"
};

// Its census as a module of PRISM's language: one variable per state that counts its agents, steps
// uniform over ordered pairs of different agents, the label "target", and a reward of 1 per step.
void write_prism_module(const TableProtocol& protocol, const std::string& path);

}  // namespace conclave::chain
