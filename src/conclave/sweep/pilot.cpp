#include "conclave/sweep/pilot.hpp"

#include <algorithm>
#include <chrono>

#include "conclave/base/progress.hpp"
#include "conclave/sweep/rare_cells.hpp"

namespace conclave::sweep {

namespace {

// One repetition, with the choice of levels before it.
Pilot run_rare_pilot(const Plan& plan, const Cell& cell, double patience,
                     const std::atomic<bool>& stop) {
  RareCell rare(cell.words, plan.texts);
  const auto begin = std::chrono::steady_clock::now();
  Pilot pilot;
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  try {
    const auto repetition = rare.run(0, [&](double interactions) {
      pilot.steps = interactions;
      return !stop && seconds() < patience;
    });
    pilot = {.steps = repetition.interactions, .is_complete = true};
  } catch (const Interrupted&) {
    pilot.is_complete = false;
  }
  pilot.seconds = seconds();
  return pilot;
}

}  // namespace

Pilot run_pilot(const Plan& plan, std::size_t cell, const std::atomic<bool>& stop) {
  // Ten seconds for all cells together, as far as that goes.
  const double patience = std::clamp(10.0 / static_cast<double>(plan.cells.size()), 0.02, 1.0);
  if (plan.cells[cell].words.kind == "rare") {
    return run_rare_pilot(plan, plan.cells[cell], patience, stop);
  }
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
