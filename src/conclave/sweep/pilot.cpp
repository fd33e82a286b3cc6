#include "conclave/sweep/pilot.hpp"

#include <algorithm>
#include <chrono>

namespace conclave::sweep {

Pilot run_pilot(const Plan& plan, std::size_t cell, const std::atomic<bool>& stop) {
  // Ten seconds for all cells together, as far as that goes.
  const double patience = std::clamp(10.0 / static_cast<double>(plan.cells.size()), 0.02, 1.0);
  const auto run = prepare(plan.cells[cell].words, plan.texts);
  const auto begin = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  const auto workspace = run->workspace();
  double steps = 0;  // of the trials before
  std::uint64_t trials = 0;
  do {
    double so_far = 0;
    const TrialResult result = run->run(trials, *workspace, [&](Interactions interactions) {
      so_far = interactions.as_double();
      return !stop && elapsed() < patience;
    });
    if (result.ending == Ending::interrupted) {
      if (trials > 0) break;
      return {.steps = so_far, .seconds = elapsed(), .is_complete = false};
    }
    steps += result.interactions.as_double();
    ++trials;
  } while (elapsed() < patience / 10 && trials < plan.cells[cell].sampling.trials);
  const auto count = static_cast<double>(trials);
  return {.steps = steps / count, .seconds = elapsed() / count, .is_complete = true};
}

std::uint64_t trials_in(const Shard& shard, std::size_t cell, const Sampling& sampling) {
  if (sampling.precision > 0) return shard.has(cell, sampling, 0) ? sampling.trials : 0;
  const std::uint64_t first = (shard.index + shard.count - cell % shard.count) % shard.count;
  return first >= sampling.trials ? 0 : (sampling.trials - first - 1) / shard.count + 1;
}

}  // namespace conclave::sweep
