// Elimination modulo a prime: the equations' matrix is factored once, then solved for as many
// right-hand sides as there are digits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "conclave/chain/detail/local_system.hpp"

namespace conclave::chain {

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

}  // namespace conclave::chain
