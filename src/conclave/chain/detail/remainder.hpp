// Integer equations, and what is left of their right-hand sides while the solution is built digit
// by digit: exact, in 128 bits where these suffice.
#pragma once

#include <gmpxx.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "conclave/chain/detail/local_system.hpp"

namespace conclave::chain {

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

}  // namespace conclave::chain
