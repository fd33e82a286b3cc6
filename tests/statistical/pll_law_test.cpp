// P_LL with the paper's constants against an independent implementation: the Kolmogorov-Smirnov
// test of two samples of stabilization times. The naive one is written from the paper alone.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/statistics.hpp"
#include "conclave/population/agents.hpp"
#include "conclave/protocols/population/pll.hpp"

#include "tests/support/hitting_law.hpp"
#include "tests/support/naive_pll.hpp"
#include "tests/support/pll_cases.hpp"

namespace conclave::tests {
namespace {

struct Sample {
  AgentCount n;
  std::uint64_t trials;
  Pll::Reading reading = Pll::Reading::corrected;
};

std::string text_of(const Sample& sample) {
  return "n=" + std::to_string(sample.n) + " seed=1, trials 0 to " +
         std::to_string(sample.trials - 1);
}

// Ascending, infinite where a trial can never stabilize.
std::vector<double> times_of_engine(const Sample& sample) {
  const Pll protocol = pll_with({.reading = sample.reading}, sample.n);
  population::AgentMemory memory;
  std::vector<double> times;
  for (std::uint64_t trial = 0; trial < sample.trials; ++trial) {
    population::Agents<Pll> engine(protocol, sample.n, 0, {.seed = 1, .trial = trial}, memory);
    engine.advance(Interactions::max());
    times.push_back(engine.converged() ? engine.now().as_double()
                                       : std::numeric_limits<double>::infinity());
  }
  std::ranges::sort(times);
  return times;
}

std::vector<double> times_of_naive(const Sample& sample) {
  const int n = static_cast<int>(sample.n);
  NaivePll::Constants constants = NaivePll::constants_for(n);
  constants.printed = sample.reading == Pll::Reading::printed;
  std::vector<double> times;
  for (std::uint64_t trial = 0; trial < sample.trials; ++trial) {
    const auto steps = NaivePll(n, constants, trial).stabilize();
    times.push_back(steps ? static_cast<double>(*steps) : std::numeric_limits<double>::infinity());
  }
  std::ranges::sort(times);
  return times;
}

void expect_same_law(const Sample& sample) {
  const TestResult result = kolmogorov_smirnov(times_of_engine(sample), times_of_naive(sample));
  EXPECT_GE(result.p_value, rejected_below) << text_of(sample) << ": D = " << result.statistic;
}

// Below and above the size from which the engine works in groups.
TEST(PllLaw, IsThatOfTheNaiveImplementation) {
  expect_same_law({.n = 50, .trials = 20'000});
  expect_same_law({.n = 100, .trials = 20'000});
  expect_same_law({.n = 1000, .trials = 4000});
}

TEST(PllLaw, AsPrintedIsThatOfTheNaiveImplementationAsPrinted) {
  expect_same_law({.n = 100, .trials = 20'000, .reading = Pll::Reading::printed});
}

TEST(PllLaw, AsPrintedIsAnotherThanAsCorrected) {
  for (const Sample& sample :
       {Sample{.n = 100, .trials = 4000}, Sample{.n = 1000, .trials = 2000}}) {
    Sample printed = sample;
    printed.reading = Pll::Reading::printed;
    const TestResult result = kolmogorov_smirnov(times_of_engine(printed), times_of_naive(sample));
    EXPECT_LT(result.p_value, rejected_below) << text_of(sample) << ": D = " << result.statistic;
  }
}

}  // namespace
}  // namespace conclave::tests
