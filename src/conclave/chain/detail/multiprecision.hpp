// For chains that are so slow that doubles lose the equations: elimination in numbers of as many
// bits as it takes. A walk against the drift needs 2^n steps, and two doubles per state no longer
// tell whether it moved.
#pragma once

#include <optional>
#include <span>

#include "conclave/chain/detail/equations.hpp"

namespace conclave::chain::detail {

// Solves for the states with finite x and overwrites these; `estimate` says how large the unknowns
// are. Nothing if the chain is too large for this or an expectation too large for a double.
std::optional<Certificate> solve_in_multiprecision(const Equations& equations,
                                                   std::span<const double> cost,
                                                   const DoubleDoubleVector& estimate,
                                                   DoubleDoubleVector& x);

}  // namespace conclave::chain::detail
