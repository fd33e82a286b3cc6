// Estimates how many schedules there are where they are too many to walk through.
#pragma once

#include <cstdint>

#include "conclave/schedules/search.hpp"

namespace conclave::schedules {

struct Estimate {
  double schedules = 0;
  double steps = 0;  // the mean length of a random schedule
};

// The method of D. E. Knuth: Estimating the efficiency of backtrack programs. Mathematics of
// Computation 29, 1975. The product of the numbers of possible steps along a random schedule has
// the number of schedules as its expectation. Its variance is large: only the order of magnitude
// can be relied on. The random schedules have a fixed seed; each is cut after 10 000 steps.
Estimate estimate_schedules(const AnySystem& system, std::uint32_t samples = 500);

template <TransitionSystem S>
Estimate estimate_schedules(const S& system, std::uint32_t samples = 500) {
  return estimate_schedules(SystemOf<S>(system), samples);
}

}  // namespace conclave::schedules
