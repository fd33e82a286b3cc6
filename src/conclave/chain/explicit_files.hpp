// PRISM's explicit files, read: .tra (transitions), .lab (labels), .srew and .trew (rewards). They
// are written by export.hpp, which also writes .sta files (names of states); nothing here needs
// those. Lines that begin with # are comments, and probabilities and rewards may be fractions such
// as 1/3.
//
// The files may come from strangers. Every mistake is an Error that names the file and the line and
// repeats at most 40 printable characters of it, and no reader takes more memory than a fixed
// multiple of the file's size, whatever the counts in its first line say. Each format has a
// function parse_*() for texts in memory, whose `name` stands in messages, and a function read_*()
// for files, which also throws Error if the path is not a file that can be read. All take linear
// time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "conclave/chain/markov_chain.hpp"
#include "conclave/chain/rational_chain.hpp"

namespace conclave::chain {

// A .tra file: a line "states transitions", then lines "from to probability" in any order, each
// probability rounded to the nearest double. Those of every state must sum to 1 within 10^-6.
MarkovChain parse_transitions(std::string_view text, const std::string& name);
MarkovChain read_transitions(const std::string& path);

// The same without rounding, and without looking at sums.
RationalChain parse_rational_transitions(std::string_view text, const std::string& name);
RationalChain read_rational_transitions(const std::string& path);

// Labels of states, in the order of the file.
struct Labels {
  std::vector<std::string> names;
  std::vector<std::vector<StateIndex>> states;  // per name, ascending

  // Throws Error, with the nearest name, if there is none of this name.
  const std::vector<StateIndex>& of(std::string_view name) const;
  bool has(std::string_view name) const;
};

// A .lab file of a chain with the given number of states: a line 0="init" 1="done" ..., then lines
// "state: label label ...".
Labels parse_labels(std::string_view text, const std::string& name, std::size_t states);
Labels read_labels(const std::string& path, std::size_t states);

// The expected reward of one step from each state, 0 where the file says nothing. After a line of
// counts, .srew files hold lines "state reward", .trew files lines "from to reward", which count
// with the transition's probability. Rewards are finite and not negative; several are added up.
std::vector<double> parse_state_rewards(std::string_view text, const std::string& name,
                                        std::size_t states);
std::vector<double> read_state_rewards(const std::string& path, std::size_t states);
std::vector<double> parse_transition_rewards(std::string_view text, const std::string& name,
                                             const MarkovChain& chain);
std::vector<double> read_transition_rewards(const std::string& path, const MarkovChain& chain);

}  // namespace conclave::chain
