// The meetings of the directed ring.
#pragma once

#include <cstddef>
#include <cstdint>

#include "conclave/base/lanes.hpp"
#include "conclave/population/meeting_pipeline.hpp"

namespace conclave::population {

// The arcs (i, i + 1 mod n), independent and uniform over all n, exactly.
class RingArcs {
 public:
  explicit RingArcs(AgentCount n) : n_(n) {}
  std::size_t fill(Lanes::State& state, std::uint64_t* meetings, std::size_t words) const {
    return fill_arcs(state, n_, meetings, words);
  }

 private:
  AgentCount n_;
};

using RingPipeline = MeetingPipeline<RingArcs>;

}  // namespace conclave::population
