// PRISM's explicit files: .tra (transitions), .lab (labels), .srew and .trew (rewards), .sta (names
// of states). Read here, written by export.hpp. Probabilities may also be fractions such as 1/3.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conclave/chain/markov_chain.hpp"
#include "conclave/chain/rational_chain.hpp"

namespace conclave::chain {

// Reads a .tra file: a line "states transitions", then lines "from to probability" in any order.
// Throws Error where the file is malformed or a row does not sum to 1 within 10^-6.
MarkovChain read_transitions(const std::string& path);

// The same without rounding, from a file that read_transitions() has found to be well formed.
RationalChain read_rational_transitions(const std::string& path);

// Labels of states, in the order of the file.
struct Labels {
  std::vector<std::string> names;
  std::vector<std::vector<StateIndex>> states;  // per name, ascending

  // Throws Error, with the nearest name, if there is none of this name.
  const std::vector<StateIndex>& of(std::string_view name) const;
  bool has(std::string_view name) const;
};

Labels read_labels(const std::string& path, std::size_t states);

// The expected reward of one step from each state: .srew files hold "state reward", .trew files
// "from to reward", which is weighted with the transition's probability. Both after a line of
// counts.
std::vector<double> read_state_rewards(const std::string& path, std::size_t states);
std::vector<double> read_transition_rewards(const std::string& path, const MarkovChain& chain);

StateSet set_of(std::span<const StateIndex> members, std::size_t states);

}  // namespace conclave::chain
