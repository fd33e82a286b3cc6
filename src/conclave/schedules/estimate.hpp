// Estimates how many schedules there are where they are too many to walk through.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "conclave/base/random.hpp"
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
template <TransitionSystem S>
Estimate estimate_schedules(const S& system, std::uint32_t samples = 500) {
  using Configuration = typename S::Configuration;
  constexpr std::uint32_t most_steps = 10'000;
  Stream stream(StreamName{.seed = 1, .trial = 0, .purpose = Purpose::schedule});
  Estimate estimate;
  for (std::uint32_t i = 0; i < samples; ++i) {
    Configuration now = system.beginning();
    double product = 1;
    for (std::uint32_t step = 0; step < most_steps; ++step) {
      std::vector<Configuration> next;
      system.for_each_step(now, [&](Configuration&& each) { next.push_back(std::move(each)); });
      if (next.empty()) break;
      product *= static_cast<double>(next.size());
      estimate.steps += 1.0 / samples;
      now = std::move(next[stream.below64(next.size())]);
    }
    estimate.schedules += product / samples;
  }
  return estimate;
}

}  // namespace conclave::schedules
