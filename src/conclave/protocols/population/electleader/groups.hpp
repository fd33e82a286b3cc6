// The partition of the ranks 1 ... n into ceil(n/r) groups of consecutive ranks, whose sizes differ
// by at most one and lie between r/2 and r (Section 5.1).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "conclave/base/check.hpp"
#include "conclave/base/choice.hpp"

namespace conclave::protocols::electleader {

inline std::uint64_t fifth_power(std::uint64_t m) { return m * m * m * m * m; }

// Uniform on 1 ... base^exponent, digit by digit.
std::uint64_t uniform_power(std::uint32_t base, int exponent, Choice auto& choice) {
  std::uint64_t value = 0;
  for (int digit = 0; digit < exponent; ++digit) value = value * base + choice.below(base);
  return value + 1;
}

// The numbers of a group of m ranks: positions 0 ... m-1 of the ranks and message IDs 0 ... ids()-1
// (the paper counts both from 1), in m blocks, and contents 1 ... contents.
struct MessageSpace {
  std::uint32_t m = 0;
  std::uint32_t block = 0;     // messages of each rank that an agent holds: 2m in the paper
  std::uint64_t contents = 0;  // possible signatures: m^5 in the paper
  std::uint32_t looped = 0;    // Protocols 3 and 12 to 14 look at the IDs below this one

  std::uint32_t ids() const { return m * block; }

  // Any signature, all with the same probability.
  std::uint64_t signature(Choice auto& choice) const {
    if (contents == fifth_power(m)) return uniform_power(m, 5, choice);
    return 1 + below64(choice, contents);
  }
};

// The rule from which the numbers of all groups follow. The paper's are too large for an exact
// computation with three agents already, so toy sizes can be set instead.
struct MessageRule {
  double per_rank = 2;           // messages of each rank that an agent holds, times m
  std::uint64_t signatures = 0;  // at most this many; 0 for no such limit
  bool loops_over_half = false;  // over [r_u^2], as some lines of the paper have it (erratum 33)

  // The numbers of a group of m ranks.
  MessageSpace of(std::uint32_t m) const {
    const auto block = static_cast<std::uint32_t>(std::ceil(per_rank * m));
    const std::uint64_t all = fifth_power(m);
    const std::uint32_t ids = m * block;
    return {m, block, signatures == 0 ? all : std::min(all, signatures),
            loops_over_half ? ids / 2 : ids};
  }
};

// Where a rank stands: which group, and the position 0 ... size-1 in it (rank_r - 1 of the paper).
struct Standing {
  std::uint32_t group = 0;
  std::uint32_t position = 0;
  friend bool operator==(const Standing&, const Standing&) = default;
};

class Groups {
 public:
  // 1 <= r <= n, which is checked. O(n).
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
  // Groups are numbered from 0, ranks from 1.
  std::uint32_t size_of(std::uint32_t group) const { return spaces_[group].m; }
  const MessageSpace& space_of(std::uint32_t group) const { return spaces_[group]; }
  Standing of_rank(std::uint32_t rank) const { return standings_[rank - 1]; }

 private:
  std::uint32_t count_;
  std::vector<MessageSpace> spaces_;
  std::vector<Standing> standings_;
};

}  // namespace conclave::protocols::electleader
