// The options of `verify`, `search` and `explore`, and the requests that they describe. The command
// line and the Python package share them, so that both get the same error messages.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "conclave/base/statistics.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/experiment/run_text.hpp"
#include "conclave/experiment/runner.hpp"

namespace conclave::experiment {

// Tests whether the trials of an engine follow the exact law of the time to convergence.

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

inline constexpr UsageExample verify_usage{.command = "verify", .n = "3"};
inline constexpr UsageExample search_usage{.command = "search", .n = "100"};

// In addition to the words of the run. Options that need no parsing are in `plain` already:
// exactly, target, within and folder.
struct VerifyText {
  exact::VerifyOptions plain{};
  std::string from{};          // "all" or "start"; empty: what the paper's claims are about
  std::string memory{};        // bytes; empty: what is available
  std::string distribution{};  // steps
  std::string against{};       // engines, with commas between them
  std::string trials = "10000";
  bool no_congruence = false;
};

// All of these throw Error with one sentence.

// Where the protocol of that name cannot be verified.
void check_verifiable(const catalog::Entry& entry, const std::string& name);
// Also checks the names of the engines to compare.
catalog::VerifyRequest verify_request(const catalog::Entry& entry, const VerifyText& words,
                                      catalog::RunRequest run);
// The engines of `against`, compared with the law of the verified request; on all cores. When
// `stop` becomes true, with the trials done so far.
std::vector<LawTest> compared_engines(const catalog::Entry& entry, const VerifyText& words,
                                      const catalog::RunRequest& run, std::span<const double> law,
                                      const std::atomic<bool>& stop);

// Where the protocol has no starts that can be searched.
void check_searchable(const catalog::Entry& entry);
// `budget` is a number of trials; empty: 1e7 / n, between 2e4 and 2e6. An empty objective is time.
catalog::SearchRequest search_request(const catalog::Entry& entry, const std::string& budget,
                                      const std::string& objective, catalog::RunRequest run);

// All schedules of the words' protocol, which is that of the entry; an empty number of
// configurations stands for 4e6.
catalog::ExplorationRequest exploration_request(const catalog::Entry& entry, const RunText& words,
                                                const std::string& most_configurations);

}  // namespace conclave::experiment
