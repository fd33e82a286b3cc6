#include "conclave/rare/estimate.hpp"

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/real_functions.hpp"

namespace conclave::rare {
namespace {

RareRepetition repetition(double ln_rate, std::vector<double> factors = {0.25, 0.25}) {
  return {.ln_rate = ln_rate, .factors = std::move(factors), .ancestors = 10};
}

TEST(RareEstimate, AveragesRatesAndThenInverts) {
  const std::array repetitions{repetition(std::log(1e-3)), repetition(std::log(3e-3))};
  const Estimate estimate = estimate_of(repetitions);
  EXPECT_NEAR(estimate.time.ln_time, std::log(500.0), 1e-12);
  EXPECT_NEAR(estimate.relative_error, 0.5, 1e-12);  // sqrt(2e-6 / 2) / 2e-3
  EXPECT_NEAR(estimate.time.ln_high - estimate.time.ln_time, 12.7062 * 0.5, 1e-9);
  EXPECT_NEAR(estimate.time.ln_time - estimate.time.ln_low, 12.7062 * 0.5, 1e-9);
  EXPECT_NEAR(estimate.sd_ln_rate, std::log(3.0) / std::sqrt(2.0), 1e-12);
}

TEST(RareEstimate, ZerosCountInTheMean) {
  const std::array repetitions{repetition(std::log(2e-3)), repetition(minus_infinity, {0.25, 0})};
  const Estimate estimate = estimate_of(repetitions);
  EXPECT_NEAR(estimate.time.ln_time, std::log(1000.0), 1e-12);
  EXPECT_EQ(estimate.zeros, 1u);
  EXPECT_FALSE(estimate.warnings.empty());
}

TEST(RareEstimate, HoldsTimesThatOverflowADouble) {
  const std::array repetitions{repetition(-16000), repetition(-16000.5), repetition(-15999.5)};
  const Estimate estimate = estimate_of(repetitions);
  EXPECT_NEAR(estimate.time.ln_time, 16000 - std::log((1 + std::exp(0.5) + std::exp(-0.5)) / 3),
              1e-9);
}

TEST(RareEstimate, SaysWhatIsSuspicious) {
  const std::array far{repetition(-5, {0.25, 0.01}), repetition(-5.1, {0.25, 0.01})};
  EXPECT_NE(estimate_of(far).warnings.at(0).find("last level"), std::string::npos);
  const std::array apart{repetition(-5), repetition(-9)};
  EXPECT_NE(estimate_of(apart).warnings.at(0).find("0.7"), std::string::npos);
  const std::array none{repetition(minus_infinity), repetition(minus_infinity)};
  EXPECT_TRUE(std::isinf(estimate_of(none).time.ln_time));
  const std::array good{repetition(-5), repetition(-5.2)};
  EXPECT_EQ(estimate_of(good).warnings, std::vector<std::string>{});
}

TEST(RareEstimate, RatesOfWaysAddUp) {
  const std::array one{repetition(std::log(1e-3)), repetition(std::log(1e-3))};
  const std::array two{repetition(std::log(3e-3)), repetition(std::log(3e-3))};
  const std::array ways{estimate_of(one), estimate_of(two)};
  EXPECT_NEAR(time_of_all(ways).ln_time, std::log(250.0), 1e-12);
}

TEST(RareEstimate, StudentsQuantiles) {
  EXPECT_NEAR(student_quantile(19), 2.09302, 1e-5);
  EXPECT_NEAR(student_quantile(21), 2.07961, 1e-5);
  EXPECT_NEAR(student_quantile(99), 1.98422, 1e-5);
  EXPECT_NEAR(student_quantile(100000), 1.95999, 1e-5);
}

TEST(RealFunctions, AreThoseOfTheLibrary) {
  EXPECT_NEAR(logarithm_of(12345.678), std::log(12345.678), 1e-13);
  EXPECT_NEAR(exponential_of(-3.25), std::exp(-3.25), 1e-15);
  EXPECT_EQ(exponential_of(minus_infinity), 0);
  EXPECT_EQ(logarithm_of(0), minus_infinity);
  const std::array<double, 3> values{-20000, -20001, minus_infinity};
  EXPECT_NEAR(log_sum_of(values), -20000 + std::log1p(std::exp(-1.0)), 1e-9);
}

}  // namespace
}  // namespace conclave::rare
