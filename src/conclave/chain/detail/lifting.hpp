// Integer equations, and what is left of their right-hand sides while the solution is built digit
// by digit: exact, in 128 bits where these suffice.
// Elimination modulo a prime: the equations' matrix is factored once, then solved for as many
// right-hand sides as there are digits.
// Dixon's p-adic lifting: the solution of integer equations, digit by digit to the base of a prime,
// from one factorization modulo that prime.
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

// Arithmetic modulo an odd prime below 2^60, by Montgomery's method. A factor in Montgomery's form
// (times 2^64) and a plain one have a plain product.
class PrimeField {
 public:
  __extension__ using Wide = unsigned __int128;

  explicit PrimeField(std::uint64_t prime);

  std::uint64_t prime() const { return prime_; }

  // wide / 2^64, for wide < prime * 2^64.
  std::uint64_t reduce(Wide wide) const {
    const std::uint64_t multiple = static_cast<std::uint64_t>(wide) * negative_inverse_;
    const Wide sum = wide + static_cast<Wide>(multiple) * prime_;
    const auto high = static_cast<std::uint64_t>(sum >> 64);
    return high >= prime_ ? high - prime_ : high;
  }
  std::uint64_t multiply(std::uint64_t a, std::uint64_t b) const {
    return reduce(static_cast<Wide>(a) * b);
  }
  std::uint64_t to_form(std::uint64_t a) const { return multiply(a, square_); }
  // Of a number in Montgomery's form, in that form.
  std::uint64_t inverse(std::uint64_t a) const;

 private:
  std::uint64_t prime_;
  std::uint64_t negative_inverse_;  // of the prime modulo 2^64
  std::uint64_t square_;            // 2^128 modulo the prime
};

// Row i of the matrix: diagonal[i], and minus values[k] in column pattern.columns[k].
struct ModularMatrix {
  Pattern pattern;
  std::vector<std::uint64_t> values;
  std::vector<std::uint64_t> diagonal;
};

class ModularFactors {
 public:
  // `filled` is filled_pattern(matrix.pattern). is_regular() is false if a pivot is 0 modulo the
  // prime; another prime will do.
  ModularFactors(const PrimeField& field, const ModularMatrix& matrix, const Pattern& filled);

  bool is_regular() const { return is_regular_; }

  // Overwrites the right-hand side by the solution; both plain.
  void solve(std::span<std::uint64_t> right) const;

 private:
  struct Entry {
    std::uint64_t value;
    std::uint32_t column;
  };

  void eliminate_row(std::size_t i, const ModularMatrix& matrix, const Pattern& filled,
                     std::vector<std::uint64_t>& work);
  std::uint64_t combined(std::uint64_t start, std::span<const Entry> entries,
                         std::span<const std::uint64_t> x) const;
  std::span<const Entry> before(std::size_t i) const {
    return {lower_.data() + lower_starts_[i], lower_.data() + lower_starts_[i + 1]};
  }
  std::span<const Entry> behind(std::size_t i) const {
    return {upper_.data() + upper_starts_[i], upper_.data() + upper_starts_[i + 1]};
  }

  PrimeField field_;
  // Nonzero entries before and behind the diagonal, and one over the diagonal, in Montgomery's
  // form.
  std::vector<std::uint64_t> lower_starts_{0}, upper_starts_{0};
  std::vector<Entry> lower_, upper_;
  std::vector<std::uint64_t> inverses_;
  bool is_regular_ = true;
};

// The values of the given unknowns modulo a modulus that is larger than `least`; nothing if the
// factorization takes more than `most_work` multiplications.
std::optional<Residues> lift(const IntegerEquations& equations,
                             std::span<const std::uint32_t> unknowns, const mpz_class& least,
                             double most_work);

}  // namespace conclave::chain::detail
