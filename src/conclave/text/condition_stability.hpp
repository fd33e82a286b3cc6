// Whether a condition about a population holds, and how soon that may change.
#pragma once

#include <cstdint>

#include "conclave/text/node.hpp"

namespace conclave::text {

// The condition keeps its value for this many interactions at least, whatever they are: each
// changes two agents, and so no count by more than 2.
struct ConditionStability {
  bool holds = false;
  std::uint64_t steps = 0;
};

ConditionStability stability_of(const Node& condition, const Scene& scene);

}  // namespace conclave::text
