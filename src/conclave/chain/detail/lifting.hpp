// Dixon's p-adic lifting: the solution of integer equations as fractions. One factorization modulo
// a prime of 60 bits gives the unknowns digit by digit to the base of that prime; what the digits
// found so far leave of the right-hand sides is kept exactly. Once the digits exceed what the
// bounds on numerators and denominators allow, Euclid's algorithm finds the only fractions with
// them.
//
// Sparse chains are the reason why this is written by hand: FLINT has Dixon's method for dense
// matrices only.
#pragma once

#include <gmpxx.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "conclave/chain/detail/elimination.hpp"

namespace conclave::chain::detail {

// Row i: diagonal[i] x_i - sum over k of values[k] x_(columns[k]) = right[i]. No number is
// negative, and the values of a row sum to its diagonal at most.
struct IntegerEquations {
  Pattern pattern;
  std::vector<mpz_class> values;
  std::vector<mpz_class> diagonal;
  std::vector<mpz_class> right;

  // The number of rows.
  std::size_t size() const { return right.size(); }

  // Bits of the largest coefficient.
  std::size_t coefficient_bits() const;
};

// The values of the given unknowns, which may not be negative or larger than `largest`; exact. The
// equations must have one solution. Nothing if the factorization takes more than `most_work`
// multiplications, some 3*10^8 a second, or some gigabytes. Time beside that: the digits, about as
// many as all rows have together, times the entries of the factors.
std::optional<std::vector<mpq_class>> lift(const IntegerEquations& equations,
                                           std::span<const std::uint32_t> unknowns, double largest,
                                           double most_work);

}  // namespace conclave::chain::detail
