// BiCGSTAB (van der Vorst 1992), preconditioned by incomplete elimination.
#pragma once

#include <span>

#include "conclave/exact/detail/elimination.hpp"
#include "conclave/exact/detail/local_system.hpp"

namespace conclave::exact {

struct KrylovLimits {
  double gain = 1e-8;         // the residual to reach, relative to the right-hand side
  int most_iterations = 100;  // two products and two preconditioning steps each
};

// Writes into `x` what it found; true if the largest residual fell by the gain.
bool bicgstab(const LocalSystem& system, const Factors& preconditioner,
              std::span<const double> right, std::span<double> x, const KrylovLimits& limits);

}  // namespace conclave::exact
