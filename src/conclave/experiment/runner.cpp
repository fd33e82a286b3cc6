#include "conclave/experiment/runner.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "conclave/base/workers.hpp"

namespace conclave::experiment {
namespace {

// Looks at a running trial for a display. A look may have to count all agents, so the next one
// waits until the last has taken no more than a twentieth of the time.
class SparingLook {
 public:
  template <class Look>
  void operator()(Look look) {
    const auto begin = std::chrono::steady_clock::now();
    if (begin < next_) return;
    look();
    const auto end = std::chrono::steady_clock::now();
    next_ = end + 20 * (end - begin);
  }

 private:
  std::chrono::steady_clock::time_point next_;
};

class Pool {
 public:
  Pool(const catalog::PreparedRun& run, const RunnerOptions& options,
       const std::function<void(const Row&)>& take, Progress& progress,
       const std::atomic<bool>& stop)
      : run_(run), options_(options), take_(take), progress_(progress), stop_(stop) {}

  std::uint64_t run() {
    std::exception_ptr unstarted;
    {
      std::vector<std::jthread> workers;
      unstarted = start_workers(workers, options_.threads, [this] { work(); });
      if (unstarted) fail(unstarted);
      work();
    }
    if (unstarted) std::rethrow_exception(unstarted);
    if (failure_) std::rethrow_exception(failure_);
    return next_row_;
  }

 private:
  bool stopping() const { return stop_.load() || failed_.load(); }

  void work() {
    try {
      const auto workspace = run_.workspace();
      const std::uint64_t at_once = run_.trials_at_once(*workspace);
      while (!stopping()) {
        const std::uint64_t trial = next_trial_.fetch_add(at_once);
        if (trial >= options_.trials) return;
        if (at_once == 1) {
          deliver({trial, run_one(trial, *workspace)});
        } else {
          run_many(trial, std::min(at_once, options_.trials - trial), *workspace);
        }
      }
    } catch (...) {
      fail(std::current_exception());
    }
  }

  void fail(std::exception_ptr failure) {
    const std::scoped_lock lock(mutex_);
    if (!failure_) failure_ = std::move(failure);
    failed_ = true;
  }

  TrialResult run_one(std::uint64_t trial, catalog::Workspace& workspace) {
    double reported = 0;
    const auto report = [&](double interactions) {
      progress_.interactions.fetch_add(interactions - reported);
      reported = interactions;
    };
    SparingLook look;
    const auto keep_going = [&](const Moment& moment) {
      report(moment.interactions.as_double());
      if (moment.view != nullptr && progress_.shows_trials) {
        look([&] {
          progress_.set_latest(
              {trial, moment.interactions, moment.view->leaders(), moment.view->observations()});
        });
      }
      return !stopping();
    };
    TrialResult result = run_.run(trial, workspace, keep_going);
    report(std::max(reported, result.interactions.as_double()));  // it may have gone on since
    return result;
  }

  void run_many(std::uint64_t first, std::uint64_t trials, catalog::Workspace& workspace) {
    const auto keep_going = [&](Interactions) { return !stopping(); };
    run_.run_batch(first, trials, workspace, keep_going,
                   [&](std::uint64_t trial, TrialResult result) {
                     progress_.interactions.fetch_add(result.interactions.as_double());
                     deliver({trial, std::move(result)});
                   });
  }

  // Rows that finish before an earlier one wait here for their turn.
  void deliver(Row row) {
    if (row.result.ending == Ending::interrupted) return;
    ++progress_.trials_done;
    progress_.effective += row.result.effective;
    const std::scoped_lock lock(mutex_);
    waiting_.emplace(row.trial, std::move(row));
    while (!waiting_.empty() && waiting_.begin()->first == next_row_) {
      take_(waiting_.begin()->second);
      waiting_.erase(waiting_.begin());
      ++next_row_;
    }
  }

  const catalog::PreparedRun& run_;
  const RunnerOptions& options_;
  const std::function<void(const Row&)>& take_;
  Progress& progress_;
  const std::atomic<bool>& stop_;

  std::atomic<std::uint64_t> next_trial_ = 0;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;
  std::map<std::uint64_t, Row> waiting_;
  std::uint64_t next_row_ = 0;
  std::exception_ptr failure_;
};

}  // namespace

std::uint64_t run_trials(const catalog::PreparedRun& run, const RunnerOptions& options,
                         const std::function<void(const Row&)>& take, Progress& progress,
                         const std::atomic<bool>& stop) {
  return Pool(run, options, take, progress, stop).run();
}

}  // namespace conclave::experiment
