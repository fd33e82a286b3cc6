// Which trials of which cell are still to be run. Work is handed out in the order of the plan;
// which worker gets it, and how much at a time, never changes what there is to do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "conclave/sweep/plan.hpp"
#include "conclave/sweep/results.hpp"

namespace conclave::sweep {

// One of k equal parts of a sweep, for machines that share nothing.
struct Shard {
  std::uint64_t index = 0;  // below count
  std::uint64_t count = 1;

  // Neighbouring trials go to different shards, so that all have as much to do. Cells with a
  // precision stay together: whether more trials are needed depends on all of them.
  bool has(std::size_t cell, const Sampling& sampling, std::uint64_t trial) const {
    return (cell + (sampling.precision > 0 ? 0 : trial)) % count == index;
  }
};

// "2/5"; parts are numbered modulo their count, so that job arrays may begin with 0 or 1. Throws
// Error.
Shard parse_shard(const std::string& text);
std::string to_string(const Shard& shard);  // "" for the whole

// Some trials of one cell.
struct Task {
  std::size_t cell = 0;
  std::vector<std::uint64_t> trials{};
};

// Which trials of which cells come next: what the plan wants, less what is stored or handed out.
class Schedule {
 public:
  // Trials in `stored` are done. `memory` is the number of bytes that trials may use together; one
  // trial may always run. The plan must outlive the schedule, which is used by one thread at a
  // time.
  Schedule(const Plan& plan, const Shard& shard, const Results& stored, std::uint64_t memory);

  // At most `most` trials, or as many as a device runs at once; nothing where all is done or
  // nothing can be begun at the moment.
  std::optional<Task> next(std::size_t most);
  // Takes the rows of a task that next() handed out, in the order of its trials. With a precision,
  // they decide whether the cell needs more trials.
  void finish(const Task& task, const std::vector<std::string>& rows);

  // Whether every cell of the shard has all its trials.
  bool is_complete() const { return complete_cells_ == cells_.size(); }

  // All cells of the plan, whether or not the shard has trials of them.
  std::size_t cells() const { return cells_.size(); }
  std::size_t complete_cells() const { return complete_cells_; }
  // Trials of a cell, as far as is known where a precision decides.
  std::uint64_t wanted(std::size_t cell) const { return cells_[cell].wanted; }
  std::uint64_t left(std::size_t cell) const { return cells_[cell].left; }

 private:
  struct Progress {
    std::uint64_t target = 0;      // trials before this one are wanted so far
    std::uint64_t cursor = 0;      // trials before this one are done or handed out
    std::uint64_t wanted = 0;      // of those before the target: in this shard
    std::uint64_t left = 0;        // of the wanted: not done
    std::vector<bool> stored{};    // by trial
    std::vector<double> values{};  // of the measure, by trial; NaN: did not converge
    bool is_complete = false;
  };

  void take_stored(std::size_t cell, const Results& stored);
  bool is_mine(std::size_t cell, std::uint64_t trial) const;
  bool is_stored(std::size_t cell, std::uint64_t trial) const;
  bool fits(std::size_t cell) const;
  void set_target(std::size_t cell, std::uint64_t target);
  void note(std::size_t cell, std::uint64_t trial, const std::string& row);
  void settle(std::size_t cell);  // completes it if nothing is left, or requests more trials
  bool needs_more(std::size_t cell) const;

  const Plan& plan_;
  Shard shard_;
  std::uint64_t memory_;
  std::uint64_t memory_in_use_ = 0;
  std::vector<Progress> cells_;
  std::size_t first_open_ = 0;
  std::size_t complete_cells_ = 0;
};

// The rows of an unfinished sweep that may be used for statistics. Short trials end first, so the
// rows that are there when a sweep is interrupted prefer them. The rows before the first trial that
// is missing do not: which ones they are depends on no trial's length once it is among them.
// Statistics use those alone.
using TakeJudgedRow =
    std::function<void(std::uint64_t trial, const std::string& row, bool is_in_prefix)>;

// All rows of a cell in the order of trials, each with whether no trial before it is missing.
void for_each_judged_row(const Results& results, std::size_t cell, const TakeJudgedRow& take);

// Hands over the rows of a cell up to the first trial that the file should have and has not, in the
// order of trials; a shard should have its own trials only.
void for_each_row_of_prefix(const Results& results, std::size_t cell, const Results::TakeRow& take);

// The number of trials that a cell of the file should have, and of those that are missing. With a
// precision that is decided by the rows, so `wanted` grows until it is reached.
struct CellProgress {
  std::uint64_t wanted = 0;
  std::uint64_t missing = 0;
};

// One entry per cell. Reads every row once.
std::vector<CellProgress> progress_of(const Results& results);

}  // namespace conclave::sweep
