#include "conclave/experiment/runner.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/thread_team.hpp"
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

std::string gibibytes(double bytes) {
  return fmt::format("{:.3g} GiB", bytes / (1024.0 * 1024.0 * 1024.0));
}

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
      ThreadTeam team(options_.threads_per_trial);
      const auto workspace = run_.workspace();
      if (options_.threads_per_trial > 1) workspace->lend(&team);
      const std::uint64_t at_once = run_.trials_at_once(*workspace);
      while (!stopping()) {
        const std::uint64_t trial = next_trial_.fetch_add(at_once);
        if (trial >= options_.trials) return;
        if (at_once == 1) {
          deliver({trial, run_one(trial, *workspace)});
        } else {
          run_many(trial, std::min(at_once, options_.trials - trial), *workspace);
        }
        if (team.has_worked()) progress_.threads_per_trial = team.size();
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
    TrialResult result = run_.run(trial, workspace, std::ref(keep_going));
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
    if (row.trial != next_row_) {
      waiting_.emplace(row.trial, std::move(row));
      return;
    }
    take_next(row);
    while (!waiting_.empty() && waiting_.begin()->first == next_row_) {
      take_next(waiting_.begin()->second);
      waiting_.erase(waiting_.begin());
    }
  }

  // No row follows one that violates a property.
  void take_next(const Row& row) {
    if (is_violated_) return;
    take_(row);
    ++next_row_;
    const std::string violation = run_.violation(row.trial, row.result);
    is_violated_ = !violation.empty();
    if (is_violated_) throw Violation(violation);
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
  bool is_violated_ = false;
  std::exception_ptr failure_;
};

}  // namespace

std::uint64_t run_trials(const catalog::PreparedRun& run, const RunnerOptions& options,
                         const std::function<void(const Row&)>& take, Progress& progress,
                         const std::atomic<bool>& stop) {
  return Pool(run, options, take, progress, stop).run();
}

std::uint64_t available_memory() {
  std::ifstream info("/proc/meminfo");
  std::string key;
  std::uint64_t kibibytes = 0;
  for (std::string unit; info >> key >> kibibytes; std::getline(info, unit)) {
    if (key == "MemAvailable:") return kibibytes * 1024;
  }
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

unsigned worker_count(const catalog::PreparedRun& run, std::uint64_t trials,
                      std::optional<unsigned> asked, std::uint64_t memory) {
  if (!run.device().empty()) return 1;  // which runs all trials by itself
  const std::uint64_t bytes = run.bytes_per_trial();
  const std::uint64_t fitting = memory / std::max<std::uint64_t>(1, bytes);
  const std::uint64_t wanted = std::min<std::uint64_t>(
      trials, asked.value_or(std::max(1u, std::thread::hardware_concurrency())));
  const std::uint64_t least = asked ? wanted : 1;
  if (fitting < least) {
    const double needed = static_cast<double>(bytes) * static_cast<double>(least);
    throw Error(fmt::format(
        "n = {} needs {} of memory with engine {}{}, but only {} are free on this machine", run.n(),
        gibibytes(needed), run.engine(),
        least > 1 ? fmt::format(" on {} threads at once", least) : "",
        gibibytes(static_cast<double>(memory))));
  }
  return static_cast<unsigned>(std::clamp<std::uint64_t>(fitting, 1, wanted));
}

unsigned worker_count(const catalog::PreparedRun& run, std::uint64_t trials,
                      std::optional<unsigned> asked) {
  constexpr std::uint64_t small = std::uint64_t{1} << 16;  // bytes of a trial
  if (!asked && run.bytes_per_trial() <= small) return worker_count(run, trials, asked, 1 << 26);
  return worker_count(run, trials, asked, available_memory());
}

unsigned threads_per_trial(unsigned workers, std::optional<unsigned> asked) {
  return std::max(1u, asked.value_or(std::thread::hardware_concurrency()) / workers);
}

}  // namespace conclave::experiment
