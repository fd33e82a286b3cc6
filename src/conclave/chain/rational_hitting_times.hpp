// Expected hitting times as exact fractions. With every equation times the common denominator of
// its probabilities, the coefficients are integers. The denominators of all expectations divide the
// determinant, which for an M-matrix is at most the product of the diagonal, and the certified
// numerical solution bounds the numerators. So it is known how many digits determine the fractions;
// lifting finds them, and a continued fraction turns them into fractions.
#pragma once

#include <vector>

#include "conclave/chain/method.hpp"
#include "conclave/chain/rational_chain.hpp"

namespace conclave::chain {

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
