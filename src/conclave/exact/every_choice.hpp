// A Choice that walks through all outcomes of a computation's random decisions, with their weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "conclave/base/check.hpp"
#include "conclave/base/choice.hpp"

namespace conclave::exact {

// A probability as a reduced fraction of 64-bit integers; what does not fit is a failed check.
struct Weight {
  std::uint64_t numerator = 1;
  std::uint64_t denominator = 1;

  friend bool operator==(const Weight&, const Weight&) = default;

  double as_double() const {
    return static_cast<double>(numerator) / static_cast<double>(denominator);
  }

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

  // This times p/q.
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

// The computation is run once per outcome, each time from its beginning:
//   EveryChoice choice;
//   do { compute(choice); use(choice.weight()); } while (choice.next());
class EveryChoice {
 public:
  std::uint32_t below(std::uint32_t bound) {
    CONCLAVE_CHECK(bound > 0);
    const std::uint32_t value = decide(bound);
    weight_ = weight_.times(1, bound);
    return value;
  }

  // An impossible outcome is not visited.
  bool chance(std::uint32_t p, std::uint32_t q) {
    CONCLAVE_CHECK(p <= q && q > 0);
    if (p == 0 || p == q) return p == q;
    const bool value = decide(2) == 0;
    weight_ = weight_.times(value ? p : q - p, q);
    return value;
  }

  // The probability of the decisions since the computation began.
  const Weight& weight() const { return weight_; }

  // Prepares the next outcome; false after the last one.
  bool next() {
    while (!path_.empty() && path_.back().value == path_.back().last) path_.pop_back();
    position_ = 0;
    weight_ = {};
    if (path_.empty()) return false;
    ++path_.back().value;
    return true;
  }

 private:
  struct Decision {
    std::uint32_t value;
    std::uint32_t last;
  };

  std::uint32_t decide(std::uint32_t outcomes) {
    if (position_ == path_.size()) path_.push_back({0, outcomes - 1});
    return path_[position_++].value;
  }

  std::vector<Decision> path_;
  std::size_t position_ = 0;
  Weight weight_;
};
static_assert(Choice<EveryChoice>);

}  // namespace conclave::exact
