// For chains that are so slow that doubles lose the equations: elimination in numbers of as many
// bits as it takes. A walk against the drift needs 2^n steps, and two doubles per state no longer
// tell whether it moved.
#pragma once

#include <optional>
#include <span>

#include "conclave/chain/detail/equations.hpp"

namespace conclave::chain::detail {

// Solves for the states with finite x and overwrites these, rounded to two doubles each; `estimate`
// says how large they are about. The certificate is that of the values before rounding. Nothing if
// the elimination takes more than `most_work` multiplications, of which some 10^7 are done a
// second, if the chain has more than 2*10^6 states, or if an expectation is too large for a double.
std::optional<Certificate> solve_in_multiprecision(const Equations& equations,
                                                   std::span<const double> cost,
                                                   const DoubleDoubleVector& estimate,
                                                   double most_work, DoubleDoubleVector& x);

}  // namespace conclave::chain::detail
