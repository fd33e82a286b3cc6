// A Markov chain with rational probabilities, for answers without any error.
#pragma once

#include <gmpxx.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conclave/chain/markov_chain.hpp"
#include "conclave/chain/method.hpp"

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

// Expected hitting times as exact fractions. With every equation times the common denominator of
// its probabilities, the coefficients are integers. The denominators of all expectations divide the
// determinant, which for an M-matrix is at most the product of the diagonal, and the certified
// numerical solution bounds the numerators. So it is known how many digits determine the fractions;
// lifting finds them, and a continued fraction turns them into fractions.
struct RationalHittingTimes {
  std::vector<Rational> mean;  // exact, in steps, in the order of the given states
  MethodUse method;
};

// The expected number of steps until the target, from each of the given states. As everywhere,
// self-loops take what the transitions to other states leave of 1. The method is one of
// fraction_methods(). Throws Error if an expectation is infinite, if the chain is too large, or
// if the given method does not apply. Time and memory grow with the square of the number of states
// that can be visited, at least: minutes for 10^4 states.
RationalHittingTimes rational_hitting_times(const RationalChain& chain, const StateSet& target,
                                            const std::vector<StateIndex>& from,
                                            Method method = Method::automatic);

}  // namespace conclave::chain
