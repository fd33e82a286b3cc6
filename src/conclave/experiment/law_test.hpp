// Tests whether the trials of an engine follow the exact law of the time to convergence.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>

#include "conclave/base/statistics.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/experiment/runner.hpp"

namespace conclave::experiment {

// The level of the test: the probability of rejecting an engine whose law is right.
inline constexpr double rejected_below = 1e-6;

struct LawTest {
  std::string engine;
  std::uint64_t trials = 0;
  double mean = 0;             // of the trials that converged up to the horizon, in interactions
  std::uint64_t horizon = 0;   // later or non-converging trials are pooled into one bucket,
  double expected_beyond = 0;  // which should hold this many
  std::uint64_t found_beyond = 0;  // and holds this many
  TestResult fit{};
  bool is_informative = true;  // false: too few trials for two buckets, so that nothing is compared

  bool is_rejected() const { return fit.p_value < rejected_below; }
};

// Chi-square over all times, where law[t] = P(T <= t) and T is counted in interactions; later and
// non-converging trials share one bucket. The run's limit may be any time beyond the law, so that
// trials that never converge end too. When `stop` becomes true, tests the trials done so far.
LawTest test_law(const catalog::PreparedRun& run, std::span<const double> law,
                 const RunnerOptions& options, Progress& progress, const std::atomic<bool>& stop);

}  // namespace conclave::experiment
