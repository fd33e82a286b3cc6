// A Choice that walks through all outcomes of a computation's random decisions, with their exact
// weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "conclave/base/check.hpp"
#include "conclave/base/choice.hpp"

namespace conclave {

// The computation is run once per outcome, each time from its beginning:
//   EveryChoice choice;
//   do { compute(choice); use(choice.weight()); } while (choice.next());
class EveryChoice {
 public:
  // A probability, not reduced. Where a computation decides so much that it does not fit,
  // `denominator` is 0.
  struct Weight {
    std::uint64_t numerator = 1;
    std::uint64_t denominator = 1;
    double value() const {
      return static_cast<double>(numerator) / static_cast<double>(denominator);
    }
  };

  std::uint32_t below(std::uint32_t bound) {
    CONCLAVE_CHECK(bound > 0);
    const std::uint32_t value = decide(bound);
    multiply(1, bound);
    return value;
  }

  // An impossible outcome is not visited.
  bool chance(std::uint32_t p, std::uint32_t q) {
    CONCLAVE_CHECK(p <= q && q > 0);
    if (p == 0 || p == q) return p == q;
    const bool value = decide(2) == 0;
    multiply(value ? p : q - p, q);
    return value;
  }

  // The probability of the decisions since the computation began.
  const Weight& weight() const { return weight_; }

  // Prepares the next outcome; false after the last one.
  bool next() {
    while (!path_.empty() && path_.back().value == path_.back().last) path_.pop_back();
    if (path_.empty()) return false;
    ++path_.back().value;
    position_ = 0;
    weight_ = {};
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

  void multiply(std::uint64_t numerator, std::uint64_t denominator) {
    const bool overflows =
        __builtin_mul_overflow(weight_.numerator, numerator, &weight_.numerator) ||
        __builtin_mul_overflow(weight_.denominator, denominator, &weight_.denominator);
    if (overflows) weight_.denominator = 0;
  }

  std::vector<Decision> path_;
  std::size_t position_ = 0;
  Weight weight_;
};
static_assert(Choice<EveryChoice>);

}  // namespace conclave
