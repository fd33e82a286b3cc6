// Gauss-Seidel sweeps over the whole chain, with a common factor corrected in between: the fast way
// for chains that mix well, however far the target is. They need no analysis of the chain.
#pragma once

#include <optional>
#include <span>

#include "conclave/chain/detail/equations.hpp"

namespace conclave::chain::detail {

// Solves for x until `tolerance` is certified; costs outside the target must be positive. Nothing
// if that takes more than a few dozen sweeps: the chain has structure that sweeps are blind to, or
// the target can be missed. A sweep takes O(transitions); chains that mix well need some 30, others
// are given up after about 20.
std::optional<Certificate> sweep(const Equations& equations, std::span<const double> cost,
                                 double tolerance, DoubleDoubleVector& x);

}  // namespace conclave::chain::detail
