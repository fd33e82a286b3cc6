// Holds the trials of an engine to the exact law of the time to convergence.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>

#include "conclave/base/statistics.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/experiment/runner.hpp"

namespace conclave::experiment {

// An engine whose law is right is called wrong with this probability.
inline constexpr double rejected_below = 1e-6;

struct LawTest {
  std::string engine;
  std::uint64_t trials = 0;
  double mean = 0;            // of the trials that converged in time
  std::uint64_t horizon = 0;  // the last time that is told apart; what is later, or never, is not
  double expected_beyond = 0;
  std::uint64_t found_beyond = 0;
  TestResult fit{};

  bool is_rejected() const { return fit.p_value < rejected_below; }
};

// Chi-square over all times; law[t] = P(T <= t), and what is later, or never, shares one bucket.
// The run may be limited to any later time, so that trials that never converge end too. Stops
// early with `stop`.
LawTest test_law(const catalog::PreparedRun& run, std::span<const double> law,
                 const RunnerOptions& options, Progress& progress, const std::atomic<bool>& stop);

}  // namespace conclave::experiment
