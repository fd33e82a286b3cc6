// Statistics of samples: summaries, confidence intervals and tests of goodness of fit. Samples
// called `sorted` are ascending. An empty sample, a NaN, a wrong order or a probability out of
// range is a failed check; in functions faster than O(n), the values themselves are checked in
// debug builds. For reports and tests: results are rounded, and their last bits may differ between
// machines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace conclave {

struct Summary {
  std::size_t count = 0;
  double mean = 0;
  double variance = 0;  // unbiased, so NaN for a single value
  double minimum = 0;
  double maximum = 0;
};

// One stable pass (Welford 1962) over finite values.
Summary summarize(std::span<const double> values);

// Linear between order statistics: type 7 of Hyndman and Fan (1996), the default of R and NumPy.
// O(1). Infinite values are allowed and stand for trials that never ended.
double quantile(std::span<const double> sorted, double q);

// Closed; an end may be infinite.
struct Interval {
  double low = 0;
  double high = 0;
};

// Student's t interval for the mean of a normal law; all of the reals for a single value.
Interval mean_interval(const Summary& summary, double confidence = 0.95);

// The same for times, counts and other quantities that are never negative, at least two values:
// where Student's interval would reach below zero although no value does, its low end is that of
// the interval of the logarithm of the mean (delta method), which is positive.
Interval nonnegative_mean_interval(const Summary& summary, double confidence = 0.95);

// Wilson's score interval (1927): within [0, 1], around successes / trials. trials > 0.
Interval proportion_interval(std::uint64_t successes, std::uint64_t trials,
                             double confidence = 0.95);

// The probability that at least `successes` of the independent trials succeed, each with
// probability p.
double binomial_tail(std::uint64_t successes, std::uint64_t trials, double p);

// `p_value`: how likely a statistic at least as large is if the hypothesis holds, rounded.
struct TestResult {
  double statistic = 0;
  double p_value = 1;
};

// Two samples of one law? O(n). The p-value is that of the limit for large samples and continuous
// laws; with ties the true one is smaller, so the test is conservative.
TestResult kolmogorov_smirnov(std::span<const double> sorted_a, std::span<const double> sorted_b);

// A sample of the law with this distribution function? The law must be continuous: a jump would
// count as a deviation, so use chi_square for lattice laws. The p-value is that of the limit.
TestResult kolmogorov_smirnov(std::span<const double> sorted,
                              const std::function<double(double)>& cdf);

// Pearson's test of counts against expected counts: all positive and with the same total, which
// costs one degree of freedom; each parameter fitted to the sample costs another.
TestResult chi_square(std::span<const double> observed, std::span<const double> expected,
                      std::size_t fitted_parameters = 0);

// Two columns of equal length, as chi_square takes them.
struct Buckets {
  std::vector<double> observed;
  std::vector<double> expected;
};

// Merges neighbours from the left until each bucket expects the minimum; a remainder joins the
// last. Only the expectations decide, so the test that follows keeps its law.
Buckets pool_buckets(std::span<const double> observed, std::span<const double> expected,
                     double minimum_expected = 10);

}  // namespace conclave
