#include "conclave/experiment/law_test.hpp"

#include <algorithm>
#include <vector>

namespace conclave::experiment {
namespace {

// What the law expects of that many trials at each time, and later.
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

// Where everything is certain, a chi-square test has nothing to compare.
TestResult fit(std::span<const double> observed, std::span<const double> expected) {
  for (std::size_t i = 0; i < observed.size(); ++i) {
    if (expected[i] == 0 && observed[i] > 0) return {.statistic = observed[i], .p_value = 0};
  }
  const Buckets buckets = pool_buckets(observed, expected);
  if (buckets.observed.size() < 2) return {};
  return chi_square(buckets.observed, buckets.expected);
}

}  // namespace

LawTest test_law(const catalog::PreparedRun& run, std::span<const double> law,
                 const RunnerOptions& options, Progress& progress, const std::atomic<bool>& stop) {
  std::vector<double> observed(law.size() + 1, 0.0);
  double sum = 0;
  double converged = 0;
  const auto take = [&](const Row& row) {
    const bool counts = row.result.ending == Ending::converged;
    const double time = row.result.interactions.as_double();
    const auto last = static_cast<double>(law.size());
    ++observed[counts ? static_cast<std::size_t>(std::min(time, last)) : law.size()];
    sum += counts ? time : 0;
    converged += counts ? 1 : 0;
  };
  LawTest test;
  test.engine = run.engine();
  test.trials = run_trials(run, options, take, progress, stop);
  test.mean = converged > 0 ? sum / converged : 0;
  test.fit = fit(observed, expectations(law, static_cast<double>(test.trials)));
  return test;
}

}  // namespace conclave::experiment
