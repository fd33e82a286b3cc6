// Splitting with mistakes that a statistical test must notice.
#pragma once

#include <cstdint>

#include "conclave/rare/splitting.hpp"

namespace conclave::tests {

// Every rise above level 1 counts, though the quiet set was not visited since the last one.
struct CountsRecrossings : rare::SplittingRules {
  bool counts_crossing(bool) const override { return true; }
};

// A path that has jumped over a level is lost there.
struct SkipsLevels : rare::SplittingRules {
  bool is_beyond(double, double) const override { return false; }
};

// A tenth of the weight of all starts is counted as passed, whatever becomes of the paths.
struct LosesWeights : rare::SplittingRules {
  double share(std::uint64_t successes, std::uint64_t starts) const override {
    return rare::SplittingRules::share(successes + starts / 10, starts);
  }
};

// All copies that start at a level go on with the same random numbers.
struct CorrelatesCopies : rare::SplittingRules {
  void begin_path(Stream& stream, const Stream& first) const override { stream = first; }
};

}  // namespace conclave::tests
