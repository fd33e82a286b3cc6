// Fractions from their residues modulo a large number, or from binary approximations of them. Both
// are searches for the best approximation by a fraction with a bounded denominator, which continued
// fractions find (Lehmer's method); the results are exact.
#pragma once

#include <gmpxx.h>

#include <cstddef>
#include <vector>

namespace conclave::chain::detail {

// Whole numbers modulo a common modulus.
struct Residues {
  mpz_class modulus;
  std::vector<mpz_class> values;
};

// Approximations with a common number of binary places.
struct BinaryFractions {
  std::size_t bits = 0;
  std::vector<mpz_class> values;  // times 2^-bits
};

// The fractions that are congruent to the residues. None is negative or has a numerator of
// modulus / (2 most_denominator) or more, and all have a common denominator of at most
// `most_denominator`.
std::vector<mpq_class> reconstruct(const Residues& residues, const mpz_class& most_denominator);

// The fractions that are closer than 1 / (2 most_denominator^2) to the approximations, where all
// have a common denominator of at most `most_denominator`.
std::vector<mpq_class> reconstruct(const BinaryFractions& approximations,
                                   const mpz_class& most_denominator);

// The denominator of the last convergent of numerator / denominator whose denominator is at most
// `most`, 0 <= numerator < denominator.
mpz_class convergent_denominator(const mpz_class& numerator, const mpz_class& denominator,
                                 const mpz_class& most);

}  // namespace conclave::chain::detail
