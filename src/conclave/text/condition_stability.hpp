// Whether a condition about a population holds, and for how many interactions it is certain to keep
// its value. A tally that knows this need not evaluate the condition after every interaction: two
// numbers at a distance d that come closer by at most r per interaction cannot meet before d / r.
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

// `holds` is exact; `steps` is a lower bound, 0 where nothing is known. Throws as text::holds does.
ConditionStability stability_of(const Node& condition, const Scene& scene);

}  // namespace conclave::text
