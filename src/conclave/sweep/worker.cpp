#include "conclave/sweep/worker.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "conclave/base/progress.hpp"

namespace conclave::sweep {
namespace {

constexpr double short_task = 0.02;  // seconds
constexpr double long_task = 0.1;
constexpr std::size_t largest_task = 4096;

// How many trials from the one at `first` on follow each other without a gap, up to `most`.
std::uint64_t consecutive(const std::vector<std::uint64_t>& trials, std::size_t first,
                          std::uint64_t most) {
  std::uint64_t count = 1;
  while (count < most && first + count < trials.size() &&
         trials[first + count] == trials[first] + count) {
    ++count;
  }
  return count;
}

}  // namespace

std::shared_ptr<const catalog::PreparedRun> PreparedCells::operator()(std::size_t cell) {
  const std::scoped_lock lock(mutex_);
  if (auto run = runs_[cell].lock()) return run;
  std::shared_ptr<const catalog::PreparedRun> run =
      sweep::prepare(plan_.cells[cell].words, plan_.texts, device_);
  runs_[cell] = run;
  return run;
}

std::shared_ptr<RareCell> PreparedCells::rare(std::size_t cell) {
  const std::scoped_lock lock(mutex_);
  if (auto rare = rare_[cell].lock()) return rare;
  auto rare = std::make_shared<RareCell>(plan_.cells[cell].words, plan_.texts);
  rare_[cell] = rare;
  return rare;
}

void Worker::prepare(std::size_t cell) {
  if (cell == cell_) return;
  workspace_.reset();  // first, so that memory never holds two
  run_.reset();
  rare_.reset();
  if (cells_.is_rare(cell)) {
    rare_ = cells_.rare(cell);
  } else {
    run_ = cells_(cell);
    workspace_ = run_->workspace();
  }
  cell_ = cell;
  batch_size_ = 1;  // trials of this cell may take a thousand times longer
}

void Worker::run_repetitions(const Task& task, Done& done) {
  try {
    for (const std::uint64_t repetition : task.trials) {
      RareCell::Repetition found = rare_->run(repetition, [&](double) { return !stop_.load(); });
      done.task.trials.push_back(repetition);
      done.rows.push_back(std::move(found.row));
      done.steps += found.interactions;
    }
  } catch (const Interrupted&) {
    // Those that are finished are kept.
  }
}

void Worker::run_trials(const Task& task, Done& done) {
  const experiment::RowFormat format(*run_);
  bool is_cut = false;
  const auto take = [&](std::uint64_t trial, TrialResult result) {
    is_cut = is_cut || result.ending == Ending::interrupted || stop_;
    if (is_cut) return;
    const experiment::Row row{trial, std::move(result)};
    done.task.trials.push_back(trial);
    done.rows.push_back(format.json(row));
    done.steps += row.result.interactions.as_double();
  };
  const std::uint64_t at_once = run_->trials_at_once(*workspace_);
  for (std::size_t i = 0; i < task.trials.size() && !is_cut;) {
    const std::uint64_t count = consecutive(task.trials, i, at_once);
    run_->run_batch(
        task.trials[i], count, *workspace_, [&](Interactions) { return !stop_.load(); }, take);
    i += count;
  }
}

Done Worker::run(const Task& task) {
  const auto begin = std::chrono::steady_clock::now();
  prepare(task.cell);
  Done done{.task = {.cell = task.cell}};
  if (rare_) {
    run_repetitions(task, done);
  } else {
    run_trials(task, done);
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  done.seconds = elapsed.count();
  if (done.seconds < short_task) batch_size_ = std::min(batch_size_ * 2, largest_task);
  if (done.seconds > long_task) batch_size_ = std::max<std::size_t>(batch_size_ / 2, 1);
  return done;
}

}  // namespace conclave::sweep
