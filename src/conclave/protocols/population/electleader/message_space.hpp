// How many messages circulate in a group, and what they can say. The paper's numbers are too large
// for an exact computation with three agents already, so toy sizes can be set instead.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

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

// The rule from which the numbers of all groups follow.
struct MessageRule {
  double per_rank = 2;           // messages of each rank that an agent holds, times m
  std::uint64_t signatures = 0;  // at most this many; 0 for no such limit
  bool loops_over_half = false;  // over [r_u^2], as some lines of the paper have it (erratum 33)

  MessageSpace of(std::uint32_t m) const {
    const auto block = static_cast<std::uint32_t>(std::ceil(per_rank * m));
    const std::uint64_t all = fifth_power(m);
    const std::uint32_t ids = m * block;
    return {m, block, signatures == 0 ? all : std::min(all, signatures),
            loops_over_half ? ids / 2 : ids};
  }
};

}  // namespace conclave::protocols::electleader
