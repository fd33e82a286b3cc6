// A Markov chain with rational probabilities, for answers without any error.
#pragma once

#include <gmpxx.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conclave/chain/markov_chain.hpp"

namespace conclave::chain {

using Rational = mpq_class;

// Built like a MarkovChain: add() the transitions of state 0 in any order, end_row(), and so on;
// those to the same state are merged, those of probability 0 left out. Some hundred bytes per
// transition.
class RationalChain {
 public:
  struct Transition {
    StateIndex to;
    Rational probability;
  };

  // A transition of the present row, whose end end_row() marks.
  void add(StateIndex to, Rational probability) {
    if (probability == 0) return;
    rows_.back().push_back({to, std::move(probability)});
  }
  void end_row();

  // The number of states, and the transitions of one, ascending.
  std::size_t size() const { return rows_.size() - 1; }
  const std::vector<Transition>& row(StateIndex state) const { return rows_[state]; }

  // The chain with every probability rounded towards zero to a double.
  MarkovChain rounded() const;

 private:
  std::vector<std::vector<Transition>> rows_{1};
};

// `0.125`, `1e-3`, `1/3`, exactly as written. Throws Error for other texts, among them negative
// numbers and exponents beyond 1000.
Rational parse_rational(std::string_view text);

}  // namespace conclave::chain
