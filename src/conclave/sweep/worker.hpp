// Runs tasks one after the other, on the thread of its owner.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "conclave/catalog/catalog.hpp"
#include "conclave/experiment/row.hpp"
#include "conclave/sweep/plan.hpp"
#include "conclave/sweep/rare_cells.hpp"
#include "conclave/sweep/schedule.hpp"

namespace conclave::sweep {

// The prepared runs that workers of one process share: a graph is made once, and levels of rare
// failures are chosen once. Engine gpu uses the CUDA device of that number, modulo how many there
// are.
class PreparedCells {
 public:
  explicit PreparedCells(const Plan& plan, unsigned device = 0)
      : plan_(plan), device_(device), runs_(plan.cells.size()), rare_(plan.cells.size()) {}
  // The prepared cell, which is kept as long as a caller holds it. Thread-safe.
  std::shared_ptr<const catalog::PreparedRun> operator()(std::size_t cell);
  bool is_rare(std::size_t cell) const { return plan_.cells[cell].words.kind == "rare"; }
  std::shared_ptr<RareCell> rare(std::size_t cell);

 private:
  const Plan& plan_;
  unsigned device_;
  std::mutex mutex_;
  std::vector<std::weak_ptr<const catalog::PreparedRun>> runs_;
  std::vector<std::weak_ptr<RareCell>> rare_;
};

// A task's rows in the order of its trials, and what they cost.
struct Done {
  Task task;  // without the trials that were interrupted
  std::vector<std::string> rows{};
  double steps = 0;  // interactions or messages
  double seconds = 0;
};

// Runs tasks on one thread; trials of a cell share a workspace.
class Worker {
 public:
  Worker(PreparedCells& cells, const std::atomic<bool>& stop) : cells_(cells), stop_(stop) {}

  // Ends early, with the rows so far, when `stop` becomes true.
  Done run(const Task& task);

  // How many trials the next task should have: it doubles while tasks take less than 0.02 s, and is
  // halved when one takes more than 0.1 s, so that handing out costs little and a user who
  // interrupts does not wait. It never changes a row.
  std::size_t batch_size() const { return batch_size_; }

 private:
  void prepare(std::size_t cell);
  void run_trials(const Task& task, Done& done);
  void run_repetitions(const Task& task, Done& done);

  PreparedCells& cells_;
  const std::atomic<bool>& stop_;
  std::size_t cell_ = SIZE_MAX;
  std::shared_ptr<const catalog::PreparedRun> run_;
  std::shared_ptr<RareCell> rare_;  // instead of a run, where the cell is one
  std::unique_ptr<catalog::Workspace> workspace_;
  std::size_t batch_size_ = 1;
};

}  // namespace conclave::sweep
