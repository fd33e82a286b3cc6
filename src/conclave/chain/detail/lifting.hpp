// Dixon's p-adic lifting: the solution of integer equations, digit by digit to the base of a prime
// of 60 bits, from one factorization modulo that prime. The remainder of the right-hand sides after
// the digits found so far is kept exactly, in 128 bits where these suffice; refinement.hpp uses the
// same remainder for digits from the other end.
#pragma once

#include <gmpxx.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <vector>

#include "conclave/chain/detail/elimination.hpp"
#include "conclave/chain/detail/fractions.hpp"

namespace conclave::chain::detail {

__extension__ using Int128 = __int128;

// Row i: diagonal[i] x_i - sum over k of values[k] x_(columns[k]) = right[i]. No number is
// negative, and the values of a row sum to its diagonal at most.
struct IntegerEquations {
  Pattern pattern;
  std::vector<mpz_class> values;
  std::vector<mpz_class> diagonal;
  std::vector<mpz_class> right;

  std::size_t size() const { return right.size(); }

  // Bits of the largest coefficient.
  std::size_t coefficient_bits() const {
    std::size_t bits = 0;
    for (const auto* numbers : {&diagonal, &right}) {
      for (const mpz_class& number : *numbers) {
        bits = std::max(bits, mpz_sizeinbase(number.get_mpz_t(), 2));
      }
    }
    return bits;
  }
};

// Integers of 128 bits, and integers of any size, with the same few operations.
inline void subtract_product(mpz_class& value, const mpz_class& factor, std::int64_t digit) {
  const auto size = static_cast<unsigned long>(std::abs(digit));
  if (digit < 0) {
    mpz_addmul_ui(value.get_mpz_t(), factor.get_mpz_t(), size);
  } else {
    mpz_submul_ui(value.get_mpz_t(), factor.get_mpz_t(), size);
  }
}
inline void subtract_product(Int128& value, Int128 factor, std::int64_t digit) {
  value -= factor * digit;
}

inline void convert(const mpz_class& from, mpz_class& to) { to = from; }
inline void convert(const mpz_class& from, Int128& to) {
  const mpz_class high = from >> 64;
  to = (static_cast<Int128>(high.get_ui()) << 64) | static_cast<Int128>(from.get_ui());
}

template <class Integer>
class Remainder {
 public:
  explicit Remainder(const IntegerEquations& equations)
      : pattern_(equations.pattern),
        values_(converted(equations.values)),
        diagonal_(converted(equations.diagonal)),
        rest_(converted(equations.right)) {}

  std::size_t size() const { return rest_.size(); }
  const Integer& operator[](std::size_t i) const { return rest_[i]; }
  Integer& operator[](std::size_t i) { return rest_[i]; }

  // Takes off the left sides at the given digits.
  void take(std::span<const std::int64_t> digits) {
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      subtract_product(rest_[i], diagonal_[i], digits[i]);
      for (std::uint64_t k = pattern_.starts[i]; k < pattern_.starts[i + 1]; ++k) {
        subtract_product(rest_[i], values_[k], -digits[pattern_.columns[k]]);
      }
    }
  }

 private:
  static std::vector<Integer> converted(const std::vector<mpz_class>& numbers) {
    std::vector<Integer> result(numbers.size());
    for (std::size_t k = 0; k < numbers.size(); ++k) convert(numbers[k], result[k]);
    return result;
  }

  const Pattern& pattern_;
  std::vector<Integer> values_, diagonal_, rest_;
};

// The values of the given unknowns modulo a modulus that is larger than `least`; exact. Nothing if
// the factorization takes more than `most_work` multiplications, some 3*10^8 a second. Time beside
// that: digits times entries of the factors.
std::optional<Residues> lift(const IntegerEquations& equations,
                             std::span<const std::uint32_t> unknowns, const mpz_class& least,
                             double most_work);

}  // namespace conclave::chain::detail
