// BiCGSTAB (van der Vorst 1992) with any preconditioner. Deterministic: sums are taken in the same
// order on every machine, so that results have the same bits.
#pragma once

#include <functional>
#include <span>

#include "conclave/chain/detail/elimination.hpp"

namespace conclave::chain::detail {

struct KrylovLimits {
  double gain = 1e-8;  // the residual to reach, relative to the right-hand side
  // Two products and two preconditioning steps each. Given up after half of them if a quarter of
  // the digits is not yet gained.
  int most_iterations = 100;
};

// Overwrites a right-hand side by an approximate solution.
using Preconditioner = std::function<void(std::span<double>)>;

// Solves the system from x = 0. Writes into `x` the best that it found; true if the largest
// residual fell by the gain, or as far as rounding allows. The preconditioner must be a fixed
// linear map.
bool bicgstab(const LocalSystem& system, const Preconditioner& preconditioner,
              std::span<const double> right, std::span<double> x, const KrylovLimits& limits);

}  // namespace conclave::chain::detail
