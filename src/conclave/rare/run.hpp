// Runs pilots and repetitions of rare failures on several threads. A repetition depends on its
// number alone, so that the result is the same for any number of threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "conclave/rare/prepared.hpp"

namespace conclave::rare {

struct RunOptions {
  std::uint64_t repetitions = 20;
  unsigned threads = 1;
};

// Counters for a progress display, read from another thread.
struct Progress {
  std::atomic<std::uint64_t> pilots_done = 0;
  std::atomic<std::uint64_t> repetitions_done = 0;
  std::atomic<double> interactions = 0;  // for display only
};

// The repetitions of each function, in order and without a gap: all of them, or after `stop` became
// true the first ones, so that short ones are not preferred. Functions that do not serve are
// removed from the subject (Prepared::settle). Throws Error if nothing can be said about some way
// then.
std::vector<std::vector<RareRepetition>> run_rare(Prepared& rare, const RunOptions& options,
                                                  Progress& progress,
                                                  const std::atomic<bool>& stop);

}  // namespace conclave::rare
