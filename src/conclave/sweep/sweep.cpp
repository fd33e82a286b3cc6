#include "conclave/sweep/sweep.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "conclave/base/numbers.hpp"
#include "conclave/base/progress.hpp"
#include "conclave/base/workers.hpp"
#include "conclave/sweep/rare_cells.hpp"

namespace conclave::sweep {
namespace {

// Rows are committed at these intervals, so a power failure loses little work. Commits are allowed
// a twentieth of the time.
constexpr std::chrono::milliseconds shortest_interval{50};
constexpr std::chrono::milliseconds longest_interval{1000};
constexpr int commit_share = 20;

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

Sweep::Sweep(const Plan& plan, const Shard& shard, const Results& stored, Store& store,
             std::uint64_t memory)
    : plan_(plan),
      store_(store),
      schedule_(plan, shard, stored, memory),
      next_commit_(Clock::now() + shortest_interval),
      costs_(plan.cells.size()) {}

std::optional<Task> Sweep::next(std::size_t most) {
  const std::scoped_lock lock(mutex_);
  if (failure_) return std::nullopt;
  return schedule_.next(most);
}

void Sweep::take(Done done) {
  const std::scoped_lock lock(mutex_);
  schedule_.finish(done.task, done.rows);
  Cost& cost = costs_[done.task.cell];
  cost.seconds += done.seconds;
  cost.trials += done.rows.size();
  trials_run_ += done.rows.size();
  steps_ += done.steps;
  for (std::size_t i = 0; i < done.rows.size(); ++i) {
    store_.add(done.task.cell, done.task.trials[i], std::move(done.rows[i]));
  }
  commit_if_due();
  changed_.notify_all();
}

void Sweep::commit_if_due() {
  const auto begin = Clock::now();
  if (begin < next_commit_) return;
  store_.commit(false);
  const auto end = Clock::now();
  next_commit_ = end + std::clamp<Clock::duration>((end - begin) * commit_share, shortest_interval,
                                                   longest_interval);
}

bool Sweep::is_over() const {
  const std::scoped_lock lock(mutex_);
  return failure_ || schedule_.is_complete();
}

bool Sweep::is_complete() const {
  const std::scoped_lock lock(mutex_);
  return schedule_.is_complete();
}

void Sweep::fail(std::exception_ptr failure) {
  const std::scoped_lock lock(mutex_);
  if (!failure_) failure_ = std::move(failure);
  changed_.notify_all();
}

void Sweep::run_worker(PreparedCells& cells, const std::atomic<bool>& stop) {
  try {
    Worker worker(cells, stop);
    while (!stop && !is_over()) {
      if (const auto task = next(worker.batch_size())) {
        take(worker.run(*task));
        continue;
      }
      // Others are at work on what decides whether there is more to do.
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, std::chrono::milliseconds(50));
    }
  } catch (...) {
    fail(std::current_exception());
  }
}

void Sweep::finish() {
  const std::scoped_lock lock(mutex_);
  if (failure_) {
    store_.give_up();
    std::rethrow_exception(failure_);
  }
  store_.commit();
}

void Sweep::work(unsigned threads, const std::atomic<bool>& stop) {
  PreparedCells cells(plan_);
  std::exception_ptr unstarted;
  {
    const auto work = [&] { run_worker(cells, stop); };
    std::vector<std::jthread> workers;
    unstarted = start_workers(workers, threads, work);
    if (unstarted) fail(unstarted);
    work();
  }
  if (unstarted) std::rethrow_exception(unstarted);
  finish();
}

// A cell that has not begun takes as long as the one before it, in proportion to n.
double Sweep::seconds_left() const {
  double left = 0;
  double per_agent = 0;
  for (std::size_t cell = 0; cell < costs_.size(); ++cell) {
    const double n = parse_real(plan_.cells[cell].words.n).value_or(1);
    const Cost& cost = costs_[cell];
    if (cost.trials > 0) per_agent = cost.seconds / static_cast<double>(cost.trials) / n;
    left += static_cast<double>(schedule_.left(cell)) * per_agent * n;
  }
  return left;
}

SweepProgress Sweep::progress() const {
  const std::scoped_lock lock(mutex_);
  SweepProgress result{.cells = schedule_.cells(),
                       .cells_done = schedule_.complete_cells(),
                       .trials_run = trials_run_,
                       .steps = steps_,
                       .seconds_left = seconds_left()};
  for (std::size_t cell = 0; cell < schedule_.cells(); ++cell) {
    result.trials += schedule_.wanted(cell);
    result.trials_done += schedule_.wanted(cell) - schedule_.left(cell);
  }
  return result;
}

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
