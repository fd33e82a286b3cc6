// Dixon's p-adic lifting: the solution of integer equations, digit by digit to the base of a prime,
// from one factorization modulo that prime.
#pragma once

#include <gmpxx.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "conclave/exact/detail/local_system.hpp"

namespace conclave::exact {

// Row i: diagonal[i] x_i - sum over k of values[k] x_(columns[k]) = right[i].
struct IntegerEquations {
  Pattern pattern;
  std::vector<mpz_class> values;
  std::vector<mpz_class> diagonal;
  std::vector<mpz_class> right;
};

struct Residues {
  mpz_class modulus;
  std::vector<mpz_class> values;  // of the unknowns asked for
};

// The values of the given unknowns modulo a modulus that is larger than `least`. Throws Error if
// the equations fill in too much.
Residues lift(const IntegerEquations& equations, std::span<const std::uint32_t> unknowns,
              const mpz_class& least);

// The fraction that is congruent to `residue` and whose numerator is at most `most_numerator`,
// with the smallest denominator. It is the only one if 2 * most_numerator * denominator < modulus.
mpq_class reconstruct(const mpz_class& residue, const mpz_class& modulus,
                      const mpz_class& most_numerator);

}  // namespace conclave::exact
