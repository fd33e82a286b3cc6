// A Choice that walks through all outcomes of a computation's random decisions, with their weights:
// a depth-first walk through the tree of decisions. The computation must be a function of the
// decisions alone, since it is run again from its beginning for every outcome.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "conclave/base/check.hpp"
#include "conclave/base/choice.hpp"

namespace conclave {

// A Weight is the probability 1 when made, and offers times(p, q): itself times p/q.
// The computation is run once per outcome, each time from its beginning:
//   EveryChoice<Weight> choice;
//   do { compute(choice); use(choice.weight()); } while (choice.next());
// One run per outcome, in the order of the decisions' values; memory for the longest path only.
template <class Weight>
class EveryChoice final : public VirtualChoice {  // NOLINT: it is final
 public:
  std::uint32_t below(std::uint32_t bound) override {
    CONCLAVE_CHECK(bound > 0);
    const std::uint32_t value = decide(bound);
    weight_ = weight_.times(1, bound);
    return value;
  }

  // An impossible outcome is not visited.
  bool chance(std::uint32_t p, std::uint32_t q) override { return wide_chance(p, q); }
  bool wide_chance(std::uint64_t p, std::uint64_t q) override {
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
}  // namespace conclave
