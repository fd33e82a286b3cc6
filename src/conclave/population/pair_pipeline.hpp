// The meetings of the complete graph.
#pragma once

#include <cstddef>
#include <cstdint>

#include "conclave/base/lanes.hpp"
#include "conclave/population/meeting_pipeline.hpp"

namespace conclave::population {

// Ordered pairs of distinct agents, independent and uniform over all n(n-1), exactly.
class AllPairs {
 public:
  explicit AllPairs(AgentCount n) : n_(n) {}
  std::size_t fill(Lanes::State& state, std::uint64_t* meetings, std::size_t words) const {
    return fill_pairs(state, n_, meetings, words);
  }

 private:
  AgentCount n_;
};

using PairPipeline = MeetingPipeline<AllPairs>;

}  // namespace conclave::population
