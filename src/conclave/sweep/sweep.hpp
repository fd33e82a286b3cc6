// Carries out a plan: hands out work, takes rows, commits them. Threads of this process work by
// themselves; others (see mpi/) are served through the same two functions.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <vector>

#include "conclave/sweep/plan.hpp"
#include "conclave/sweep/schedule.hpp"
#include "conclave/sweep/store.hpp"
#include "conclave/sweep/worker.hpp"

namespace conclave::sweep {

// For display only.
struct SweepProgress {
  std::size_t cells = 0, cells_done = 0;
  std::uint64_t trials = 0, trials_done = 0;  // of the shard, those stored before included
  std::uint64_t trials_run = 0;               // now
  double steps = 0;                           // of the trials run now
  double seconds_left = 0;                    // of one worker, estimated; 0: unknown
};

// Hands out tasks to workers and stores their rows. Rows depend on the plan alone, neither on the
// workers nor on the order in which they finish.
class Sweep {
 public:
  // `memory`: bytes that trials may use together, as far as one at a time allows.
  // All that is referred to must outlive the sweep.
  Sweep(const Plan& plan, const Shard& shard, const Results& stored, Store& store,
        std::uint64_t memory);

  // Thread-safe. Nothing: ask again later, unless the sweep is over.
  std::optional<Task> next(std::size_t most);
  // Thread-safe. Stores the rows of a task, and commits from time to time.
  void take(Done done);
  bool is_over() const;  // complete, or failed

  // Works on `threads` threads of this process, until the sweep is over or `stop` becomes true;
  // commits what is finished. Rethrows what went wrong.
  void work(unsigned threads, const std::atomic<bool>& stop);
  // The parts of it, for a caller that has other workers besides.
  void finish();
  // Takes and runs tasks on the calling thread until the sweep is over or `stop` becomes true.
  void run_worker(PreparedCells& cells, const std::atomic<bool>& stop);
  void fail(std::exception_ptr failure);  // ends the sweep

  // Both are thread-safe.
  SweepProgress progress() const;
  bool is_complete() const;

 private:
  using Clock = std::chrono::steady_clock;

  void commit_if_due();
  double seconds_left() const;

  const Plan& plan_;
  Store& store_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Schedule schedule_;
  Clock::time_point next_commit_;
  std::exception_ptr failure_;
  std::uint64_t trials_run_ = 0;
  double steps_ = 0;
  struct Cost {
    double seconds = 0;
    std::uint64_t trials = 0;
  };
  std::vector<Cost> costs_;  // by cell
};

// Estimates how long the trials of a cell take: runs the first ones, and gives up after a second.
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
