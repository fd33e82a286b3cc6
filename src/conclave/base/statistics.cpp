#include "conclave/base/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

#include "conclave/base/check.hpp"

namespace conclave {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double real(std::size_t count) { return static_cast<double>(count); }

double total(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

bool is_inside_unit(double p) { return 0 < p && p < 1; }

// Also false for NaN, which compares with nothing, itself included.
bool is_sorted_sample(std::span<const double> sample) {
  const auto out_of_order = [](double a, double b) { return !(a <= b); };
  return !sample.empty() && sample.front() <= sample.back() &&
         std::ranges::adjacent_find(sample, out_of_order) == sample.end();
}

bool are_counts(std::span<const double> values) {
  return std::ranges::all_of(values, [](double x) { return 0 <= x && x < infinity; });
}

// P(K <= x) for Kolmogorov's law by its theta series, which converges fast for small x.
double kolmogorov_cdf(double x) {
  constexpr double pi = std::numbers::pi;
  double sum = 0;
  for (const double odd : {1, 3, 5, 7}) sum += std::exp(-odd * odd * pi * pi / (8 * x * x));
  return std::sqrt(2 * pi) / x * sum;
}

// P(K > x), with full relative precision for large x. Each series is used on the side of 1 where
// four terms are enough; below 0.1 the theta series is under 1e-50, and would divide by zero at 0.
double kolmogorov_tail(double x) {
  if (x < 0.1) return 1;
  if (x < 1) return 1 - kolmogorov_cdf(x);
  const auto term = [x](double k) { return std::exp(-2 * k * k * x * x); };
  return 2 * (term(1) - term(2) + term(3) - term(4));
}

// How many values are at most x, when it is known that the first `from` are.
std::size_t count_up_to(std::span<const double> sorted, std::size_t from, double x) {
  while (from < sorted.size() && sorted[from] <= x) ++from;
  return from;
}

// The complement, not 1 - cdf, keeps the relative precision of small p-values.
TestResult chi_square_result(double statistic, std::size_t degrees_of_freedom) {
  const boost::math::chi_squared law(real(degrees_of_freedom));
  return {statistic, boost::math::cdf(boost::math::complement(law, statistic))};
}

double squared_deviation(double observed, double expected) {
  return (observed - expected) * (observed - expected) / expected;
}

void merge_last_two(std::vector<double>& values) {
  const double last = values.back();
  values.pop_back();
  values.back() += last;
}

}  // namespace

Summary summarize(std::span<const double> values) {
  CONCLAVE_CHECK(!values.empty());
  double mean = 0;
  double squares = 0;
  double seen = 0;
  for (const double value : values) {
    CONCLAVE_CHECK(std::isfinite(value));
    const double before = value - mean;
    mean += before / ++seen;
    squares += before * (value - mean);
  }
  const auto [minimum, maximum] = std::ranges::minmax(values);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double variance = values.size() > 1 ? squares / (seen - 1) : nan;
  return {values.size(), mean, variance, minimum, maximum};
}

double quantile(std::span<const double> sorted, double q) {
  CONCLAVE_CHECK(!sorted.empty());
  CONCLAVE_CHECK(0 <= q && q <= 1);
  CONCLAVE_CHECK_SLOW(is_sorted_sample(sorted));
  const double position = q * real(sorted.size() - 1);
  const auto index = static_cast<std::size_t>(position);
  const double fraction = position - real(index);
  // Also keeps infinite values out of the differences below.
  if (fraction == 0 || sorted[index] == sorted[index + 1]) return sorted[index];
  return std::lerp(sorted[index], sorted[index + 1], fraction);
}

Interval mean_interval(const Summary& summary, double confidence) {
  CONCLAVE_CHECK(summary.count > 0);
  CONCLAVE_CHECK(is_inside_unit(confidence));
  if (summary.count == 1) return {-infinity, infinity};
  const boost::math::students_t law(real(summary.count - 1));
  const double t = boost::math::quantile(boost::math::complement(law, (1 - confidence) / 2));
  const double half = t * std::sqrt(summary.variance / real(summary.count));
  return {summary.mean - half, summary.mean + half};
}

Interval nonnegative_mean_interval(const Summary& summary, double confidence) {
  CONCLAVE_CHECK(summary.count > 1);
  Interval interval = mean_interval(summary, confidence);
  if (interval.low >= 0 || summary.minimum < 0) return interval;
  interval.low = summary.mean * std::exp((interval.low - summary.mean) / summary.mean);
  return interval;
}

double binomial_tail(std::uint64_t successes, std::uint64_t trials, double p) {
  if (successes == 0) return 1;
  const boost::math::binomial law(real(trials), p);
  return boost::math::cdf(boost::math::complement(law, real(successes - 1)));
}

Interval proportion_interval(std::uint64_t successes, std::uint64_t trials, double confidence) {
  CONCLAVE_CHECK(trials > 0);
  CONCLAVE_CHECK(successes <= trials);
  CONCLAVE_CHECK(is_inside_unit(confidence));
  const boost::math::normal law;
  const double z = boost::math::quantile(boost::math::complement(law, (1 - confidence) / 2));
  const auto n = static_cast<double>(trials);
  const double p = static_cast<double>(successes) / n;
  const double shrink = 1 + z * z / n;
  const double center = (p + z * z / (2 * n)) / shrink;
  const double half = z * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / shrink;
  // The clamps only undo rounding: exactly, p is always inside.
  return {std::clamp(center - half, 0.0, p), std::clamp(center + half, p, 1.0)};
}

TestResult kolmogorov_smirnov(std::span<const double> sorted_a, std::span<const double> sorted_b) {
  CONCLAVE_CHECK(is_sorted_sample(sorted_a));
  CONCLAVE_CHECK(is_sorted_sample(sorted_b));
  const double a_size = real(sorted_a.size());
  const double b_size = real(sorted_b.size());
  double distance = 0;
  std::size_t a = 0;
  std::size_t b = 0;
  while (a < sorted_a.size() && b < sorted_b.size()) {
    // Both step past a tie before they are compared: in between, there is no difference to see.
    const double x = std::min(sorted_a[a], sorted_b[b]);
    a = count_up_to(sorted_a, a, x);
    b = count_up_to(sorted_b, b, x);
    distance = std::max(distance, std::abs(real(a) / a_size - real(b) / b_size));
  }
  const double effective_size = a_size * b_size / (a_size + b_size);
  return {distance, kolmogorov_tail(std::sqrt(effective_size) * distance)};
}

TestResult kolmogorov_smirnov(std::span<const double> sorted,
                              const std::function<double(double)>& cdf) {
  CONCLAVE_CHECK(is_sorted_sample(sorted));
  const double n = real(sorted.size());
  double distance = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const double p = cdf(sorted[i]);
    CONCLAVE_CHECK(0 <= p && p <= 1);
    distance = std::max({distance, real(i + 1) / n - p, p - real(i) / n});
  }
  return {distance, kolmogorov_tail(std::sqrt(n) * distance)};
}

TestResult chi_square(std::span<const double> observed, std::span<const double> expected,
                      std::size_t fitted_parameters) {
  CONCLAVE_CHECK(observed.size() == expected.size());
  CONCLAVE_CHECK(observed.size() > fitted_parameters + 1);
  CONCLAVE_CHECK(are_counts(observed));
  const bool all_expected = std::ranges::all_of(expected, [](double e) { return e > 0; });
  CONCLAVE_CHECK(all_expected);
  // Expectations are computed, so their total is only nearly that of the sample.
  CONCLAVE_CHECK(std::abs(total(observed) - total(expected)) <= 1e-6 * total(expected));
  const double statistic = std::transform_reduce(observed.begin(), observed.end(), expected.begin(),
                                                 0.0, std::plus{}, squared_deviation);
  return chi_square_result(statistic, observed.size() - 1 - fitted_parameters);
}

Buckets pool_buckets(std::span<const double> observed, std::span<const double> expected,
                     double minimum_expected) {
  CONCLAVE_CHECK(observed.size() == expected.size());
  Buckets pooled;
  bool is_full = true;  // No bucket is open at first.
  for (std::size_t i = 0; i < observed.size(); ++i) {
    if (is_full) {
      pooled.observed.push_back(0);
      pooled.expected.push_back(0);
    }
    pooled.observed.back() += observed[i];
    pooled.expected.back() += expected[i];
    is_full = pooled.expected.back() >= minimum_expected;
  }
  if (!is_full && pooled.expected.size() > 1) {
    merge_last_two(pooled.observed);
    merge_last_two(pooled.expected);
  }
  return pooled;
}

}  // namespace conclave
