// Runs the trials of a prepared run on several threads and hands over the rows in trial order. A
// row depends on its trial number alone, never on the number of threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "conclave/base/error.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/experiment/row.hpp"

namespace conclave::experiment {

// Counters for a progress display, read from another thread while the trials run.
class Progress {
 public:
  // The trial that was looked at last, as it was then.
  struct Latest {
    std::uint64_t trial = 0;
    Interactions interactions{};
    AgentCount leaders = 0;
    std::vector<Observation> observations{};
  };

  std::atomic<std::uint64_t> trials_done = 0;
  std::atomic<double> interactions = 0;         // of finished and running trials; for display only
  std::atomic<std::uint64_t> effective = 0;     // of finished trials, by engines that jump
  std::atomic<unsigned> threads_per_trial = 1;  // the most that a trial has used

  std::atomic<bool> shows_trials = false;  // whether `latest` is read

  // Nothing before the first look at a trial. The views of the observations live as long as the
  // run.
  std::optional<Latest> latest() const {
    const std::scoped_lock lock(mutex_);
    return latest_;
  }
  void set_latest(Latest latest) {
    const std::scoped_lock lock(mutex_);
    latest_ = std::move(latest);
  }

 private:
  mutable std::mutex mutex_;
  std::optional<Latest> latest_;
};

// Thrown by run_trials once it has handed over the first trial, in their order, in which a property
// of the protocol file fails.
class Violation : public Error {
 public:
  using Error::Error;
};

struct RunnerOptions {
  std::uint64_t trials = 1;
  unsigned threads = 1;            // as many trials at once
  unsigned threads_per_trial = 1;  // at most; where the engine knows how to use them
};

// Calls `take` once per trial, in order, as soon as that trial and all before it are done. Stops
// early, after handing over what is finished without a gap, when `stop` becomes true. Returns the
// number of rows handed over. An exception of `take` or of a trial stops all workers and is
// rethrown.
std::uint64_t run_trials(const catalog::PreparedRun& run, const RunnerOptions& options,
                         const std::function<void(const Row&)>& take, Progress& progress,
                         const std::atomic<bool>& stop);

// Bytes that new allocations may use without swapping, as the system estimates it.
std::uint64_t available_memory();

// The number of worker threads: the requested number, or one per processor but no more than there
// are trials or than `memory` (in bytes) allows. Throws Error if the trials of the requested
// threads, or a single trial, do not fit into memory.
unsigned worker_count(const catalog::PreparedRun& run, std::uint64_t trials,
                      std::optional<unsigned> asked, std::uint64_t memory);
// The same with the memory of this machine, which is asked for only where trials need much.
unsigned worker_count(const catalog::PreparedRun& run, std::uint64_t trials,
                      std::optional<unsigned> asked);
// The threads that are left for each of so many trials at once, of the requested ones or of one per
// processor.
unsigned threads_per_trial(unsigned workers, std::optional<unsigned> asked);

}  // namespace conclave::experiment
