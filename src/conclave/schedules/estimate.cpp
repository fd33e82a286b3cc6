#include "conclave/schedules/estimate.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "conclave/base/random.hpp"

namespace conclave::schedules {

Estimate estimate_schedules(const AnySystem& system, std::uint32_t samples) {
  constexpr std::uint32_t most_steps = 10'000;
  Stream stream(StreamName{.seed = 1, .trial = 0, .purpose = Purpose::schedule});
  Estimate estimate;
  for (std::uint32_t i = 0; i < samples; ++i) {
    std::unique_ptr<AnyConfiguration> now = system.beginning();
    double product = 1;
    for (std::uint32_t step = 0; step < most_steps; ++step) {
      std::vector<std::unique_ptr<AnyConfiguration>> next;
      now->for_each_step([&](AnyConfiguration& each, std::size_t) { next.push_back(each.kept()); });
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
