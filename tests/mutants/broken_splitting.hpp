// Splitting with mistakes that a statistical test must notice.
#pragma once

#include <cstdint>

#include "conclave/population/splitting.hpp"

namespace conclave::tests {

// Every rise above level 1 counts, though the quiet set was not visited since the last one.
struct CountsRecrossings : population::SplittingRules {
  bool counts_crossing(bool) const override { return true; }
};

// A path that has jumped over a level is lost there.
struct SkipsLevels : population::SplittingRules {
  bool is_beyond(double, double) const override { return false; }
};

// A tenth of the weight of all starts is counted as passed, whatever becomes of the paths.
struct LosesWeights : population::SplittingRules {
  double share(std::uint64_t successes, std::uint64_t starts) const override {
    return population::SplittingRules::share(successes + starts / 10, starts);
  }
};

// All copies that start at a level go on with the same random numbers.
struct CorrelatesCopies : population::SplittingRules {
  void begin_path(Stream& stream, const Stream& first) const override { stream = first; }
};

}  // namespace conclave::tests
