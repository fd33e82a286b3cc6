// Poisson variates and the clock of reaction networks against their exact laws. Each check must
// also reject a sampler or a clock with a named mistake.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <boost/math/special_functions/gamma.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "conclave/base/interactions.hpp"
#include "conclave/base/poisson_clock.hpp"
#include "conclave/base/random.hpp"
#include "conclave/base/statistics.hpp"
#include "conclave/base/variates.hpp"

#include "tests/support/count_laws.hpp"
#include "tests/unit/uniformity.hpp"

namespace conclave::tests {
namespace {

constexpr std::size_t many = 100'000;

template <class Next>
double fit_poisson(double mean, Next next) {
  Stream stream({.seed = 1});
  std::vector<std::uint64_t> values(many);
  for (std::uint64_t& value : values) value = next(stream);
  return fit(poisson_law(mean), values);
}

TEST(Poisson, HasItsExactLaw) {
  for (const double mean : {0.001, 0.5, 1.0, 7.3, 15.999, 16.0, 17.25, 100.0, 4096.0, 1e6 + 0.37}) {
    const double p = fit_poisson(mean, [&](Stream& stream) { return poisson(mean, stream); });
    EXPECT_GE(p, reject) << mean << " seed=1, p = " << p;
    RecordProperty(std::to_string(mean), std::to_string(p));
  }
  Stream stream({.seed = 1});
  EXPECT_EQ(poisson(0, stream), 0u);
}

// A mean rounded to a whole number, and a normal variate rounded to the nearest.
TEST(Poisson, IsNeitherRoundedNorNormal) {
  const auto rounded = [](Stream& stream) { return poisson(7, stream); };
  EXPECT_LT(fit_poisson(7.3, rounded), reject);
  const auto normal = [](Stream& stream) {
    const auto uniform = [&] { return (static_cast<double>(stream.word() >> 11) + 0.5) * 0x1p-53; };
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return static_cast<std::uint64_t>(100.5 + 10 * radius * std::cos(6.283185307 * uniform()));
  };
  EXPECT_LT(fit_poisson(100, normal), reject);
}

// So wide that the law is normal as far as a test can see.
TEST(Poisson, IsNormalWithAllItsDigitsForHugeMeans) {
  for (const double mean : {0x1p50, 0x1p60}) {
    Stream stream({.seed = 3});
    std::vector<double> excess, low_bits(64, 0.0);
    for (std::size_t i = 0; i < many; ++i) {
      const std::uint64_t value = poisson(mean, stream);
      const auto above = static_cast<std::int64_t>(value - static_cast<std::uint64_t>(mean));
      excess.push_back(static_cast<double>(above) / std::sqrt(mean));
      ++low_bits[value % 64];
    }
    std::ranges::sort(excess);
    const auto normal = [](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; };
    EXPECT_GE(kolmogorov_smirnov(excess, normal).p_value, reject) << mean;
    EXPECT_GE(uniform_p_value(low_bits), reject) << mean;
  }
}

constexpr std::uint64_t trials = 8'000;

// The time of a point, against the law of a sum of that many exponential variates.
template <class TimeOf>
double fit_gamma(Interactions point, TimeOf time_of) {
  std::vector<double> times;
  for (std::uint64_t trial = 0; trial < trials; ++trial) times.push_back(time_of(trial));
  std::ranges::sort(times);
  const double shape = point.as_double();
  const auto law = [&](double time) {
    if (shape < 1e8) return boost::math::gamma_p(shape, time);
    // Wilson and Hilferty's cube root is nearer to the law than a sample can tell.
    const double root = std::cbrt(time / shape);
    const double z = (root - (1 - 1 / (9 * shape))) * 3 * std::sqrt(shape);
    return std::erfc(-z / std::sqrt(2.0)) / 2;
  };
  return kolmogorov_smirnov(times, law).p_value;
}

const std::vector<Interactions>& some_points() {
  static const std::vector<Interactions> all{1u,    2u,       17u,
                                             1000u, 123'456u, std::uint64_t{1'000'000'000'000}};
  return all;
}

TEST(PoissonClock, TimesAreSumsOfExponentialWaits) {
  for (const Interactions point : some_points()) {
    const double p = fit_gamma(point, [&](std::uint64_t trial) {
      return 2.5 * PoissonClock({.seed = 1, .trial = trial}, 2.5).time_of(point);
    });
    EXPECT_GE(p, reject) << to_string(point) << " seed=1, p = " << p;
  }
}

// A clock that runs evenly, and one that has the right number of points up to whole times but
// spreads those evenly in between.
TEST(PoissonClock, IsNotDiscretized) {
  const auto even = [](std::uint64_t) { return 1000.0; };
  EXPECT_LT(fit_gamma(1000u, even), reject);
  const auto counted = [](std::uint64_t trial) {
    PoissonClock clock({.seed = 1, .trial = trial}, 1);
    return std::ceil(clock.time_of(2u));
  };
  EXPECT_LT(fit_gamma(2u, counted), reject);
}

TEST(PoissonClock, CountsHaveThePoissonLawAndAreIndependent) {
  for (const double time : {0.7, 3.0, 40.5, 1000.0}) {
    std::vector<std::uint64_t> before, after;
    double product = 0;
    for (std::uint64_t trial = 0; trial < trials; ++trial) {
      PoissonClock clock({.seed = 2, .trial = trial}, 4);
      const Interactions first = clock.points_before(time / 4);
      const Interactions both = clock.points_before(time / 2);
      before.push_back(*first.as_uint64());
      after.push_back(*(both - first).as_uint64());
      product += (first.as_double() - time) * ((both - first).as_double() - time);
    }
    EXPECT_GE(fit(poisson_law(time), before), reject) << time;
    EXPECT_GE(fit(poisson_law(time), after), reject) << time;
    EXPECT_LT(std::abs(product), 5 * time * std::sqrt(static_cast<double>(trials))) << time;
  }
}

TEST(PoissonClock, AnswersFromOneProcessInAnyOrder) {
  for (std::uint64_t trial = 0; trial < 50; ++trial) {
    PoissonClock clock({.seed = 5, .trial = trial}, 3);
    std::vector<double> times;
    for (std::uint64_t point = 1; point <= 300; ++point) times.push_back(clock.time_of(point));
    EXPECT_TRUE(std::ranges::is_sorted(times));
    PoissonClock other({.seed = 5, .trial = trial}, 3);
    for (std::uint64_t point = 300; point >= 2; --point) {
      EXPECT_EQ(other.points_before((times[point - 1] + times[point - 2]) / 2), point - 1);
      EXPECT_EQ(other.time_of(point), times[point - 1]);
    }
  }
}

TEST(PoissonClock, ReachesItsLimit) {
  PoissonClock clock({.seed = 1}, 1);
  const double last = clock.time_of(PoissonClock::most_points);
  const double deviation = std::sqrt(PoissonClock::most_points.as_double());
  EXPECT_NEAR(last, PoissonClock::most_points.as_double(), 6 * deviation);
  EXPECT_EQ(clock.points_before(1e300), PoissonClock::most_points);
  EXPECT_EQ(clock.points_before(0), 0u);
  EXPECT_EQ(clock.time_of(0u), 0);
}

TEST(PoissonClock, KeepsItsBits) {
  PoissonClock clock({.seed = 7, .trial = 3}, 0.5);
  EXPECT_EQ(fmt::format("{}", clock.time_of(1u)), "6.853676021766375");
  EXPECT_EQ(fmt::format("{}", clock.time_of(1'000'000u)), "2000958.145629071");
  EXPECT_EQ(to_string(clock.points_before(1e6)), "499380");
  EXPECT_EQ(to_string(clock.points_before(0x1p62)), "2305843009333333311");
  Stream stream({.seed = 7});
  std::uint64_t digest = 0;
  for (int i = 0; i < 3000; ++i) {
    digest = digest * 31 + poisson(i % 3 == 0 ? 3.5 : i % 3 == 1 ? 1000 : 0x1p60, stream);
  }
  EXPECT_EQ(digest, 6717859298329784561u);
}

}  // namespace
}  // namespace conclave::tests
