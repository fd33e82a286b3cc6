#include "conclave/sweep/worker.hpp"

#include <algorithm>
#include <chrono>

namespace conclave::sweep {
namespace {

constexpr double short_task = 0.02;  // seconds
constexpr double long_task = 0.1;
constexpr std::size_t largest_task = 4096;

}  // namespace

std::shared_ptr<const catalog::PreparedRun> PreparedCells::operator()(std::size_t cell) {
  const std::scoped_lock lock(mutex_);
  if (auto run = runs_[cell].lock()) return run;
  std::shared_ptr<const catalog::PreparedRun> run =
      sweep::prepare(plan_.cells[cell].words, plan_.texts);
  runs_[cell] = run;
  return run;
}

void Worker::prepare(std::size_t cell) {
  if (cell == cell_) return;
  workspace_.reset();  // first, so that memory never holds two
  run_ = cells_(cell);
  workspace_ = run_->workspace();
  cell_ = cell;
  batch_size_ = 1;  // trials of this cell may take a thousand times longer
}

Done Worker::run(const Task& task) {
  const auto begin = std::chrono::steady_clock::now();
  prepare(task.cell);
  const experiment::RowFormat format(*run_);
  Done done{.task = {.cell = task.cell}};
  for (const std::uint64_t trial : task.trials) {
    const experiment::Row row{
        trial, run_->run(trial, *workspace_, [&](Interactions) { return !stop_.load(); })};
    if (row.result.ending == Ending::interrupted || stop_) break;
    done.task.trials.push_back(trial);
    done.rows.push_back(format.json(row));
    done.steps += row.result.interactions.as_double();
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  done.seconds = elapsed.count();
  if (done.seconds < short_task) batch_size_ = std::min(batch_size_ * 2, largest_task);
  if (done.seconds > long_task) batch_size_ = std::max<std::size_t>(batch_size_ / 2, 1);
  return done;
}

}  // namespace conclave::sweep
