// Shared by protocols whose agents know an upper bound N on the number of agents n.
#pragma once

#include <cstdint>
#include <string>

#include "conclave/model/population.hpp"

namespace conclave::protocols::detail {

// The sentence for a user whose N is smaller than n.
inline std::string too_small_bound(std::uint64_t bound, AgentCount n) {
  return "N = " + std::to_string(bound) + " is smaller than n = " + std::to_string(n) +
         ": N must be an upper bound of n";
}

}  // namespace conclave::protocols::detail
