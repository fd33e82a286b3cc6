// Pilots and repetitions on several threads.
#include <algorithm>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "conclave/base/progress.hpp"
#include "conclave/base/workers.hpp"
#include "conclave/rare/prepared.hpp"

namespace conclave::rare {
namespace {

// Does jobs 0 ... count-1 on threads, each of which takes the next one when it is free. After an
// exception no more are taken, and that of the first job that failed is rethrown, whichever thread
// was faster; a job that is interrupted just ends its thread.
class Jobs {
 public:
  Jobs(unsigned threads, std::uint64_t count, std::function<void(std::uint64_t)> job)
      : count_(count), job_(std::move(job)) {
    std::exception_ptr unstarted;
    {
      const auto useful = static_cast<unsigned>(std::min<std::uint64_t>(threads, count));
      std::vector<std::jthread> workers;
      unstarted = start_workers(workers, useful, [this] { work(); });
      if (unstarted) fail(0, unstarted);
      work();
    }
    if (unstarted) std::rethrow_exception(unstarted);
    if (failure_) std::rethrow_exception(failure_);
  }

  bool failed() const { return failed_; }

 private:
  void work() {
    while (!failed_) {
      const std::uint64_t job = next_.fetch_add(1);
      if (job >= count_) return;
      try {
        job_(job);
      } catch (const Interrupted&) {
        return;
      } catch (...) {
        fail(job, std::current_exception());
      }
    }
  }

  void fail(std::uint64_t job, std::exception_ptr failure) {
    const std::scoped_lock lock(mutex_);
    if (!failure_ || job < failed_job_) {
      failed_job_ = job;
      failure_ = std::move(failure);
    }
    failed_ = true;
  }

  std::uint64_t count_;
  std::function<void(std::uint64_t)> job_;
  std::atomic<std::uint64_t> next_ = 0;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;
  std::exception_ptr failure_;
  std::uint64_t failed_job_ = 0;  // the one that failure_ is of
};

// The callback of a computation: goes on until `stop`, and adds to the display.
class Reporter {
 public:
  Reporter(Progress& progress, const std::atomic<bool>& stop) : progress_(progress), stop_(stop) {}
  bool operator()(double interactions) {
    progress_.interactions.fetch_add(interactions - reported_);
    reported_ = interactions;
    return !stop_.load();
  }

 private:
  Progress& progress_;
  const std::atomic<bool>& stop_;
  double reported_ = 0;
};

}  // namespace

std::vector<std::vector<RareRepetition>> run_rare(Prepared& rare, const RunOptions& options,
                                                  Progress& progress,
                                                  const std::atomic<bool>& stop) {
  const std::size_t asked = rare.subject().functions.size();
  const Jobs pilots(options.threads, asked, [&](std::uint64_t function) {
    rare.try_pilot(function, Reporter(progress, stop));
    ++progress.pilots_done;
  });
  const bool is_ready = progress.pilots_done == asked;
  if (is_ready) rare.settle();
  const std::size_t functions = rare.subject().functions.size();
  std::vector<std::vector<std::optional<RareRepetition>>> found(functions);
  for (auto& each : found) each.resize(options.repetitions);
  if (is_ready) {
    // Repetition by repetition, so that after an interrupt all functions have equally many.
    const Jobs runs(options.threads, functions * options.repetitions, [&](std::uint64_t job) {
      const std::size_t function = job % functions;
      const std::uint64_t repetition = job / functions;
      found[function][repetition] = rare.run(function, repetition, Reporter(progress, stop));
      ++progress.repetitions_done;
    });
  }
  std::vector<std::vector<RareRepetition>> result(functions);
  for (std::size_t i = 0; i < functions; ++i) {
    for (const auto& each : found[i]) {
      if (!each) break;
      result[i].push_back(*each);
    }
  }
  return result;
}

}  // namespace conclave::rare
