// The partition of the ranks 1 ... n into ceil(n/r) groups of consecutive ranks, whose sizes differ
// by at most one and lie between r/2 and r (Section 5.1).
#pragma once

#include <cstdint>
#include <vector>

#include "conclave/base/check.hpp"
#include "conclave/protocols/population/electleader/message_space.hpp"

namespace conclave::protocols::electleader {

// Where a rank stands: which group, and the position 0 ... size-1 in it (rank_r - 1 of the paper).
struct Standing {
  std::uint32_t group = 0;
  std::uint32_t position = 0;
  friend bool operator==(const Standing&, const Standing&) = default;
};

class Groups {
 public:
  Groups(std::uint32_t n, std::uint32_t r, const MessageRule& rule = {}) : count_((n + r - 1) / r) {
    CONCLAVE_CHECK(r >= 1 && r <= n);
    const std::uint32_t small = n / count_;
    const std::uint32_t larger = n % count_;
    for (std::uint32_t group = 0; group < count_; ++group) {
      const std::uint32_t size = group < larger ? small + 1 : small;
      CONCLAVE_CHECK(2 * size >= r && size <= r);
      spaces_.push_back(rule.of(size));
      for (std::uint32_t position = 0; position < size; ++position) {
        standings_.push_back({group, position});
      }
    }
    CONCLAVE_CHECK(standings_.size() == n);
  }

  std::uint32_t count() const { return count_; }
  std::uint32_t size_of(std::uint32_t group) const { return spaces_[group].m; }
  const MessageSpace& space_of(std::uint32_t group) const { return spaces_[group]; }
  Standing of_rank(std::uint32_t rank) const { return standings_[rank - 1]; }

 private:
  std::uint32_t count_;
  std::vector<MessageSpace> spaces_;
  std::vector<Standing> standings_;
};

}  // namespace conclave::protocols::electleader
