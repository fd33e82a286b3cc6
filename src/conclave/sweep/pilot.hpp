// How long a cell's trials take: the first ones are run, and given up after a second.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "conclave/sweep/plan.hpp"
#include "conclave/sweep/shard.hpp"

namespace conclave::sweep {

struct Pilot {
  double steps = 0;          // of a trial: interactions or messages
  double seconds = 0;        // of a trial
  bool is_complete = false;  // otherwise a trial takes longer
};

Pilot run_pilot(const Plan& plan, std::size_t cell, const std::atomic<bool>& stop);

// How many trials of a cell a shard has; with a precision, at most.
std::uint64_t trials_in(const Shard& shard, std::size_t cell, const Sampling& sampling);

}  // namespace conclave::sweep
