// BiCGSTAB (van der Vorst 1992) with any preconditioner.
#pragma once

#include <functional>
#include <span>

#include "conclave/chain/detail/local_system.hpp"

namespace conclave::chain {

struct KrylovLimits {
  double gain = 1e-8;  // the residual to reach, relative to the right-hand side
  // Two products and two preconditioning steps each. Given up after half of them if a quarter of
  // the digits is not yet gained.
  int most_iterations = 100;
};

// Overwrites a right-hand side by an approximate solution.
using Preconditioner = std::function<void(std::span<double>)>;

// Writes into `x` what it found; true if the largest residual fell by the gain, or as far as
// rounding allows.
bool bicgstab(const LocalSystem& system, const Preconditioner& preconditioner,
              std::span<const double> right, std::span<double> x, const KrylovLimits& limits);

}  // namespace conclave::chain
