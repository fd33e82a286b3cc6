// The times at which a trial is looked at for a trace, and what is seen.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "conclave/base/interactions.hpp"
#include "conclave/model/population.hpp"

namespace conclave {

struct TracePoint {
  Interactions interactions{};
  AgentCount leaders = 0;
  std::vector<Observation> observations{};
};

// A grid of times that starts at 0: every `step` of parallel time, or each point a fixed factor
// after the one before. Basic arithmetic only, so that it is the same on every machine.
struct TraceGrid {
  bool is_logarithmic = true;
  double step = 1.12;  // about 20 points per factor of ten

  // The next time of the grid, at least one interaction after `point`.
  Interactions after(Interactions point, AgentCount n) const {
    const double length =
        is_logarithmic ? point.as_double() * (step - 1) : step * static_cast<double>(n);
    const auto whole = static_cast<std::uint64_t>(std::clamp(length, 1.0, 9e18));
    return point < Interactions::max() - whole ? point + whole : Interactions::max();
  }
};

}  // namespace conclave
