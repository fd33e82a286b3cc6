#include "conclave/base/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/two_samples.hpp"

namespace conclave {
namespace {

using Values = std::vector<double>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

// 1, 2, ..., count: here each value is its own rank.
Values ranks(std::size_t count) {
  Values values(count);
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

// Uniform on [0, 1) by SplitMix64, so that these tests depend on no other module.
Values uniform_sample(std::uint64_t seed, std::size_t count) {
  Values values(count);
  for (double& value : values) {
    std::uint64_t word = seed += 0x9e3779b97f4a7c15u;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
    value = static_cast<double>((word ^ (word >> 31)) >> 11) * 0x1p-53;
  }
  return values;
}

Values sorted(Values values) {
  std::ranges::sort(values);
  return values;
}

Values squared(Values values) {
  for (double& value : values) value *= value;
  return values;
}

double uniform_cdf(double x) { return std::clamp(x, 0.0, 1.0); }

TEST(BinomialTail, IsTheProbabilityOfSoManyOrMore) {
  EXPECT_EQ(binomial_tail(0, 3, 0.5), 1);
  EXPECT_NEAR(binomial_tail(2, 3, 0.5), 0.5, 1e-14);
  EXPECT_NEAR(binomial_tail(1, 4, 0.1), 1 - 0.6561, 1e-14);
  EXPECT_NEAR(binomial_tail(100, 100, 0.5) / 0x1p-100, 1, 1e-12);
}

TEST(NonnegativeMeanInterval, IsStudentsWhereThatStaysPositive) {
  const Summary summary = summarize(ranks(100));
  EXPECT_EQ(nonnegative_mean_interval(summary).low, mean_interval(summary).low);
  EXPECT_EQ(nonnegative_mean_interval(summary).high, mean_interval(summary).high);
}

TEST(NonnegativeMeanInterval, NeverReachesBelowZero) {
  const Summary summary = summarize(Values{1, 2, 60});
  EXPECT_LT(mean_interval(summary).low, 0);
  const Interval interval = nonnegative_mean_interval(summary);
  EXPECT_GT(interval.low, 0);
  EXPECT_LT(interval.low, summary.mean);
  EXPECT_EQ(interval.high, mean_interval(summary).high);
}

TEST(NonnegativeMeanInterval, LeavesSamplesWithNegativeValuesAlone) {
  const Summary summary = summarize(Values{-1, 2, 60});
  EXPECT_EQ(nonnegative_mean_interval(summary).low, mean_interval(summary).low);
}

TEST(Statistics, SummaryOfASmallSample) {
  const Summary summary = summarize(Values{4, 1, 5, 2, 3});
  EXPECT_EQ(summary.count, 5u);
  EXPECT_DOUBLE_EQ(summary.mean, 3);
  EXPECT_DOUBLE_EQ(summary.variance, 2.5);
  EXPECT_EQ(summary.minimum, 1);
  EXPECT_EQ(summary.maximum, 5);
}

// The sum of squares minus the square of the sum would lose every digit here.
TEST(Statistics, VarianceSurvivesALargeOffset) {
  const Summary summary = summarize(Values{1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16});
  EXPECT_DOUBLE_EQ(summary.mean, 1e9 + 10);
  EXPECT_DOUBLE_EQ(summary.variance, 30);
}

TEST(Statistics, OneValueHasNoVariance) {
  const Summary summary = summarize(Values{7});
  EXPECT_EQ(summary.mean, 7);
  EXPECT_TRUE(std::isnan(summary.variance));
  EXPECT_EQ(mean_interval(summary).low, -infinity);
  EXPECT_EQ(mean_interval(summary).high, infinity);
}

TEST(Statistics, QuantileInterpolatesLinearly) {
  const Values values{10, 20, 40, 80};
  EXPECT_EQ(quantile(values, 0), 10);
  EXPECT_DOUBLE_EQ(quantile(values, 0.25), 17.5);  // position 0.75
  EXPECT_DOUBLE_EQ(quantile(values, 0.5), 30);
  EXPECT_DOUBLE_EQ(quantile(values, 0.9), 68);  // position 2.7
  EXPECT_EQ(quantile(values, 1), 80);
  EXPECT_EQ(quantile(Values{5}, 0.3), 5);
}

TEST(Statistics, QuantileAllowsTrialsThatNeverEnded) {
  const Values values{1, 2, infinity, infinity, infinity};
  EXPECT_EQ(quantile(values, 0.25), 2);
  EXPECT_EQ(quantile(values, 0.3), infinity);
  EXPECT_EQ(quantile(values, 0.6), infinity);
}

// t(0.975, 4) = 2.776445 and t(0.995, 4) = 4.604095 stand in every table; the standard error of
// the mean of 1, ..., 5 is sqrt(2.5 / 5).
TEST(Statistics, MeanIntervalUsesStudentsT) {
  const Summary summary = summarize(ranks(5));
  const Interval usual = mean_interval(summary);
  EXPECT_NEAR(usual.low, 3 - 2.776445 * std::sqrt(0.5), 1e-6);
  EXPECT_NEAR(usual.high, 3 + 2.776445 * std::sqrt(0.5), 1e-6);
  EXPECT_NEAR(mean_interval(summary, 0.99).high, 3 + 4.604095 * std::sqrt(0.5), 1e-6);
}

// With z = 1.959964, 8 of 10 gives a center of 0.716740 and a half width of 0.226578.
TEST(Statistics, ProportionIntervalIsWilsons) {
  const Interval interval = proportion_interval(8, 10, 0.95);
  EXPECT_NEAR(interval.low, 0.490162, 1e-5);
  EXPECT_NEAR(interval.high, 0.943318, 1e-5);
}

// Without a success Wilson's interval is [0, z^2 / (n + z^2)], and z^2 = 3.841459.
TEST(Statistics, ProportionIntervalReachesTheBoundaryExactly) {
  const Interval never = proportion_interval(0, 10, 0.95);
  EXPECT_EQ(never.low, 0);
  EXPECT_NEAR(never.high, 3.841459 / 13.841459, 1e-6);
  EXPECT_EQ(proportion_interval(10, 10, 0.95).high, 1);
}

TEST(KolmogorovSmirnov, DistanceOfTwoSmallSamples) {
  EXPECT_DOUBLE_EQ(kolmogorov_smirnov(Values{1, 2, 3}, Values{2.5, 3.5, 4.5}).statistic, 2.0 / 3);
  EXPECT_DOUBLE_EQ(kolmogorov_smirnov(Values{1, 2, 3, 4}, Values{2.5}).statistic, 0.5);
}

// Stepping through a tie one value at a time would see a distance of 2/3 here.
TEST(KolmogorovSmirnov, TiesAreComparedAfterTheLastOfThem) {
  EXPECT_DOUBLE_EQ(kolmogorov_smirnov(Values{1, 1, 2}, Values{1, 2, 2}).statistic, 1.0 / 3);
  const TestResult same = kolmogorov_smirnov(Values{1, 1, 2}, Values{1, 1, 2});
  EXPECT_EQ(same.statistic, 0);
  EXPECT_EQ(same.p_value, 1);
}

// Two pairs at distance 1 have sqrt(2 * 2 / 4) * 1 = 1, and P(K > 1) = 0.2699996717.
TEST(KolmogorovSmirnov, TwoSamplePValueIsKolmogorovs) {
  EXPECT_NEAR(kolmogorov_smirnov(Values{1, 2}, Values{3, 4}).p_value, 0.2699996717, 1e-10);
}

TEST(KolmogorovSmirnov, DistanceFromALaw) {
  EXPECT_DOUBLE_EQ(kolmogorov_smirnov(Values{0.1, 0.2, 0.9}, uniform_cdf).statistic, 2.0 / 3 - 0.2);
  EXPECT_DOUBLE_EQ(kolmogorov_smirnov(Values{0.5, 0.6, 0.9}, uniform_cdf).statistic, 0.5);
}

// An even grid of 10^4 values, shifted so that sqrt(n) times its distance from uniform is x.
double p_value_at(double x) {
  Values grid(10'000);
  for (std::size_t i = 0; i < grid.size(); ++i) {
    grid[i] = (static_cast<double>(i) + 0.5) / 1e4 + x / 100 - 0.5e-4;
  }
  return kolmogorov_smirnov(grid, uniform_cdf).p_value;
}

// The critical values are those of the tables of Smirnov (1948), the rest is the series summed to
// two thousand terms.
TEST(KolmogorovSmirnov, PValueAgreesWithTheTables) {
  EXPECT_NEAR(p_value_at(0.5), 0.9639452437, 1e-9);
  EXPECT_NEAR(p_value_at(0.8), 0.5441424116, 1e-9);
  EXPECT_NEAR(p_value_at(0.999), 0.2710731641, 1e-9);
  EXPECT_NEAR(p_value_at(1.2238), 0.10, 1e-4);
  EXPECT_NEAR(p_value_at(1.3581), 0.05, 1e-5);
  EXPECT_NEAR(p_value_at(1.6276), 0.01, 1e-5);
  EXPECT_NEAR(p_value_at(1.9495), 0.001, 1e-6);
  EXPECT_NEAR(p_value_at(6) / (2 * std::exp(-72)), 1, 1e-9);
}

TEST(KolmogorovSmirnov, AcceptsTheSameLaw) {
  const Values a = sorted(uniform_sample(1, 2000));
  const Values b = sorted(uniform_sample(2, 3000));
  EXPECT_GT(kolmogorov_smirnov(a, b).p_value, 0.01);
  EXPECT_GT(kolmogorov_smirnov(a, uniform_cdf).p_value, 0.01);
}

TEST(KolmogorovSmirnov, RejectsAnotherLaw) {
  const Values a = sorted(uniform_sample(1, 2000));
  const Values b = sorted(squared(uniform_sample(2, 3000)));
  EXPECT_LT(kolmogorov_smirnov(a, b).p_value, 1e-6);
  EXPECT_LT(kolmogorov_smirnov(b, uniform_cdf).p_value, 1e-6);
}

// P(K > 1.3581) = 0.05: of 400 pairs of samples about 20 are below, with a deviation of 4.4.
TEST(KolmogorovSmirnov, RejectsTheSameLawAsOftenAsItPromises) {
  int rejected = 0;
  for (std::uint64_t pair = 0; pair < 400; ++pair) {
    const Values a = sorted(uniform_sample(2'000'000 + 2 * pair, 1000));
    const Values b = sorted(uniform_sample(2'000'001 + 2 * pair, 1000));
    if (kolmogorov_smirnov(a, b).p_value < 0.05) ++rejected;
  }
  EXPECT_GT(rejected, 3);
  EXPECT_LT(rejected, 42);
}

// With two degrees of freedom the p-value is exp(-x / 2), with one it is erfc(sqrt(x / 2)).
TEST(ChiSquare, HasClosedFormsForFewBuckets) {
  const Values observed{10, 20, 30};
  const Values expected{20, 20, 20};
  EXPECT_DOUBLE_EQ(chi_square(observed, expected).statistic, 10);
  EXPECT_NEAR(chi_square(observed, expected).p_value, std::exp(-5), 1e-14);
  EXPECT_NEAR(chi_square(observed, expected, 1).p_value, std::erfc(std::sqrt(5.0)), 1e-14);
}

TEST(ChiSquare, AgreesWithTheTableOfCriticalValues) {
  // Two buckets of 50 that miss by d give 2 d^2 / 50; the critical value at 0.05 is 3.841459.
  const double miss = std::sqrt(25 * 3.841459);
  EXPECT_NEAR(chi_square(Values{50 + miss, 50 - miss}, Values{50, 50}).p_value, 0.05, 1e-7);
  // A die thrown 60 times; with five degrees of freedom, 13.4 has p = 0.0199052.
  const TestResult die = chi_square(Values{5, 8, 9, 8, 10, 20}, Values(6, 10.0));
  EXPECT_DOUBLE_EQ(die.statistic, 13.4);
  EXPECT_NEAR(die.p_value, 0.0199052203, 1e-9);
}

TEST(ChiSquare, KeepsThePrecisionOfTinyPValues) {
  const TestResult result = chi_square(Values{0, 0, 120}, Values{40, 40, 40});
  EXPECT_DOUBLE_EQ(result.statistic, 240);
  EXPECT_NEAR(result.p_value / std::exp(-120), 1, 1e-10);
}

TEST(ChiSquare, PoolingMergesNeighboursUpToTheMinimum) {
  const Buckets pooled = pool_buckets(Values{1, 2, 3, 4, 5, 6}, Values{4, 6, 20, 1, 9, 2});
  EXPECT_EQ(pooled.expected, (Values{10, 20, 12}));
  EXPECT_EQ(pooled.observed, (Values{3, 3, 15}));
}

TEST(ChiSquare, PoolingHonoursTheMinimumAsked) {
  EXPECT_EQ(pool_buckets(Values(4, 1.0), Values{5, 5, 5, 5}, 5).expected, (Values{5, 5, 5, 5}));
  EXPECT_EQ(pool_buckets(Values(4, 1.0), Values{1, 1, 1, 1}, 5).expected, Values{4});
  EXPECT_TRUE(pool_buckets({}, {}).expected.empty());
}

// For a 2 by 2 table the statistic is N (ad - bc)^2 / (product of the four margins).
TEST(ChiSquare, TwoSampleStatisticOfATwoByTwoTable) {
  const TestResult result = chi_square_two_sample(Values{10, 10}, Values{10, 30});
  EXPECT_DOUBLE_EQ(result.statistic, 60.0 * 200 * 200 / (20 * 20 * 40 * 40));
  EXPECT_NEAR(result.p_value, std::erfc(std::sqrt(3.75 / 2)), 1e-14);
}

TEST(ChiSquare, TwoSampleIgnoresBucketsEmptyInBoth) {
  const TestResult dense = chi_square_two_sample(Values{10, 20, 5}, Values{12, 9, 15});
  const TestResult sparse = chi_square_two_sample(Values{0, 10, 20, 0, 5}, Values{0, 12, 9, 0, 15});
  EXPECT_EQ(sparse.statistic, dense.statistic);
  EXPECT_EQ(sparse.p_value, dense.p_value);
}

TEST(ChiSquare, TwoSampleAcceptsTwoConstants) {
  const TestResult result = chi_square_two_sample(Values{0, 7}, Values{0, 9});
  EXPECT_EQ(result.statistic, 0);
  EXPECT_EQ(result.p_value, 1);
}

Values histogram(const Values& values) {
  Values counts(10, 0.0);
  for (const double value : values) ++counts[static_cast<std::size_t>(value * 10)];
  return counts;
}

TEST(ChiSquare, AcceptsTheSameLawAndRejectsAnother) {
  const Values expected(10, 200.0);
  const Values same = histogram(uniform_sample(3, 2000));
  const Values other = histogram(squared(uniform_sample(4, 2000)));
  EXPECT_GT(chi_square(same, expected).p_value, 0.01);
  EXPECT_LT(chi_square(other, expected).p_value, 1e-6);
  EXPECT_GT(chi_square_two_sample(same, histogram(uniform_sample(5, 3000))).p_value, 0.01);
  EXPECT_LT(chi_square_two_sample(same, other).p_value, 1e-6);
}

TEST(StatisticsDeathTest, BadSamplesAreFailedChecks) {
  EXPECT_DEATH(summarize({}), "internal check failed");
  EXPECT_DEATH(summarize(Values{1, nan_value}), "internal check failed");
  EXPECT_DEATH(quantile({}, 0.5), "internal check failed");
  EXPECT_DEATH(kolmogorov_smirnov(Values{2, 1}, Values{1}), "internal check failed");
  EXPECT_DEATH(kolmogorov_smirnov(Values{1}, Values{nan_value}), "internal check failed");
  EXPECT_DEATH(kolmogorov_smirnov(Values{}, uniform_cdf), "internal check failed");
}

TEST(StatisticsDeathTest, BadProbabilitiesAreFailedChecks) {
  EXPECT_DEATH(quantile(Values{1, 2}, 1.5), "internal check failed");
  EXPECT_DEATH(mean_interval(summarize(Values{1, 2}), 1.0), "internal check failed");
  EXPECT_DEATH(kolmogorov_smirnov(Values{2}, [](double x) { return x; }), "internal check failed");
}

TEST(StatisticsDeathTest, BadCountsAreFailedChecks) {
  EXPECT_DEATH(proportion_interval(3, 2, 0.95), "internal check failed");
  EXPECT_DEATH(proportion_interval(0, 0, 0.95), "internal check failed");
  EXPECT_DEATH(chi_square(Values{1, 2}, Values{1, 1, 1}), "internal check failed");
  EXPECT_DEATH(chi_square(Values{1, 2}, Values{3, 0}), "internal check failed");
  EXPECT_DEATH(chi_square(Values{1, 2}, Values{1, 1}), "internal check failed");
  EXPECT_DEATH(chi_square(Values{1, 2}, Values{2, 1}, 1), "internal check failed");
  EXPECT_DEATH(pool_buckets(Values{1}, Values{1, 1}), "internal check failed");
  EXPECT_DEATH(chi_square_two_sample(Values{1, 2}, Values{0, 0}), "internal check failed");
  EXPECT_DEATH(chi_square_two_sample(Values{1, -2}, Values{1, 1}), "internal check failed");
}

}  // namespace
}  // namespace conclave
