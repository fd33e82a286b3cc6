// A Choice that walks through all outcomes of a computation's random decisions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "conclave/base/check.hpp"
#include "conclave/base/choice.hpp"

namespace conclave::exact::detail {

struct Decision {
  std::uint32_t value;
  std::uint32_t outcomes;
};

// The computation is run once per outcome, each time from its beginning:
//   Outcomes choice;
//   do { compute(choice); } while (choice.next());
class Outcomes {
 public:
  std::uint32_t below(std::uint32_t bound) {
    CONCLAVE_CHECK(bound > 0);
    if (bound == 1) return 0;
    if (position_ == path_.size()) path_.push_back({0, bound});
    return path_[position_++].value;
  }

  // An impossible outcome is not visited.
  bool chance(std::uint32_t p, std::uint32_t q) {
    CONCLAVE_CHECK(p <= q && q > 0);
    return p == q || (p > 0 && below(2) == 0);
  }

  // Prepares the next outcome; false after the last one.
  bool next() {
    while (!path_.empty() && path_.back().value + 1 == path_.back().outcomes) path_.pop_back();
    position_ = 0;
    if (path_.empty()) return false;
    ++path_.back().value;
    return true;
  }

 private:
  std::vector<Decision> path_;
  std::size_t position_ = 0;
};
static_assert(Choice<Outcomes>);

}  // namespace conclave::exact::detail
