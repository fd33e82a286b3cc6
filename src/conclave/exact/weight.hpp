// Probabilities as fractions of 64-bit integers, and the Choice that walks through all outcomes
// with such probabilities.
#pragma once

#include <cstdint>
#include <numeric>

#include "conclave/base/check.hpp"
#include "conclave/base/every_choice.hpp"

namespace conclave::exact {

// A probability as a reduced fraction. Exact: a result that does not fit into 64-bit integers is a
// failed check.
struct Weight {
  std::uint64_t numerator = 1;
  std::uint64_t denominator = 1;

  friend bool operator==(const Weight&, const Weight&) = default;

  // Rounded once.
  double as_double() const {
    return static_cast<double>(numerator) / static_cast<double>(denominator);
  }

  // The sum, reduced.
  Weight plus(const Weight& other) const {
    const std::uint64_t common = std::gcd(denominator, other.denominator);
    Weight sum;
    std::uint64_t ours = 0;
    std::uint64_t theirs = 0;
    CONCLAVE_CHECK(!__builtin_mul_overflow(numerator, other.denominator / common, &ours));
    CONCLAVE_CHECK(!__builtin_mul_overflow(other.numerator, denominator / common, &theirs));
    CONCLAVE_CHECK(!__builtin_add_overflow(ours, theirs, &sum.numerator));
    CONCLAVE_CHECK(
        !__builtin_mul_overflow(denominator, other.denominator / common, &sum.denominator));
    return sum.times(1, 1);
  }

  // The product with p/q; q must be positive.
  Weight times(std::uint64_t p, std::uint64_t q) const {
    const std::uint64_t across = std::gcd(numerator, q);
    const std::uint64_t down = std::gcd(p, denominator);
    Weight product;
    CONCLAVE_CHECK(!__builtin_mul_overflow(numerator / across, p / down, &product.numerator));
    CONCLAVE_CHECK(!__builtin_mul_overflow(denominator / down, q / across, &product.denominator));
    const std::uint64_t common = std::gcd(product.numerator, product.denominator);
    return {product.numerator / common, product.denominator / common};
  }
};

// See base/every_choice.hpp for how it is used.
using EveryWeightedChoice = EveryChoice<Weight>;

}  // namespace conclave::exact
