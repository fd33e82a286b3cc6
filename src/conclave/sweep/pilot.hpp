// Estimates how long the trials of a cell take: runs the first ones, and gives up after a second.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "conclave/sweep/plan.hpp"
#include "conclave/sweep/schedule.hpp"

namespace conclave::sweep {

struct Pilot {
  double steps = 0;          // of a trial: interactions or messages
  double seconds = 0;        // of a trial
  bool is_complete = false;  // otherwise a trial takes longer
};

// Runs on the calling thread, for at most a second, and for ten seconds over all cells of a plan as
// far as that goes. The figures are those of this machine and never decide a result.
Pilot run_pilot(const Plan& plan, std::size_t cell, const std::atomic<bool>& stop);

// The number of trials of a cell that belong to a shard; with a precision, the most there can be.
// O(1).
std::uint64_t trials_in(const Shard& shard, std::size_t cell, const Sampling& sampling);

}  // namespace conclave::sweep
