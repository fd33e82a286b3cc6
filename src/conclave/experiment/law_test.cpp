#include "conclave/experiment/law_test.hpp"

#include <algorithm>
#include <vector>

namespace conclave::experiment {
namespace {

// The expected number of trials that end at each time, and, last, later.
std::vector<double> expectations(std::span<const double> law, double trials) {
  std::vector<double> expected;
  double before = 0;
  for (const double now : law) {
    expected.push_back(trials * (now - before));
    before = now;
  }
  expected.push_back(trials * (1 - before));
  return expected;
}

void fit(std::span<const double> observed, std::span<const double> expected, LawTest& test) {
  for (std::size_t i = 0; i < observed.size(); ++i) {
    if (expected[i] > 0 || observed[i] == 0) continue;
    test.fit = {.statistic = observed[i], .p_value = 0};
    return;
  }
  const Buckets buckets = pool_buckets(observed, expected);
  if (buckets.observed.size() >= 2) {
    test.fit = chi_square(buckets.observed, buckets.expected);
  } else {  // where only one time is possible, all trials have been seen to take it
    test.is_informative = std::ranges::count_if(expected, [](double e) { return e > 0; }) == 1;
  }
}

}  // namespace

LawTest test_law(const catalog::PreparedRun& run, std::span<const double> law,
                 const RunnerOptions& options, Progress& progress, const std::atomic<bool>& stop) {
  std::vector<double> observed(law.size() + 1, 0.0);
  double sum = 0;
  double in_time = 0;
  const auto take = [&](const Row& row) {
    const double time = row.result.interactions.as_double();
    const bool counts =
        row.result.ending == Ending::converged && time < static_cast<double>(law.size());
    ++observed[counts ? static_cast<std::size_t>(time) : law.size()];
    sum += counts ? time : 0;
    in_time += counts ? 1 : 0;
  };
  LawTest test;
  test.engine = run.engine();
  test.trials = run_trials(run, options, take, progress, stop);
  test.mean = in_time > 0 ? sum / in_time : 0;
  const std::vector<double> expected = expectations(law, static_cast<double>(test.trials));
  test.horizon = law.size() - 1;
  test.expected_beyond = expected.back();
  test.found_beyond = static_cast<std::uint64_t>(observed.back());
  fit(observed, expected, test);
  return test;
}

}  // namespace conclave::experiment
