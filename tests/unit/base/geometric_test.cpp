// Waiting times against their exact law, and wide uniform integers. Each check must also reject a
// sampler with a named mistake.
#include "conclave/base/geometric.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <gtest/gtest.h>

#include "conclave/base/detail/exponential.hpp"
#include "conclave/base/detail/logarithms.hpp"
#include "conclave/base/interactions.hpp"
#include "conclave/base/random.hpp"
#include "conclave/base/statistics.hpp"

#include "tests/unit/uniformity.hpp"

namespace conclave::tests {
namespace {

Interactions power_of_two(int exponent) {
  return Interactions::from_wide(Interactions::Wide{1} << exponent);
}

struct Odds {
  Interactions successes;
  Interactions total;

  double p() const { return successes.as_double() / total.as_double(); }
  std::string name() const { return to_string(successes) + "/" + to_string(total); }
};

// Exact sampling one by one for 1/4 and more, jumps below.
const std::vector<Odds>& common_odds() {
  static const std::vector<Odds> all{
      {3u, 4u},  {1u, 2u},   {(1u << 28) + 1u, 1u << 30}, {(1u << 28) - 1u, 1u << 30}, {1u, 5u},
      {1u, 20u}, {1u, 1000u}};
  return all;
}

template <class Draw>
std::vector<double> sample(std::size_t draws, Draw draw) {
  Stream stream({.seed = 1});
  std::vector<double> values(draws);
  for (double& value : values) value = draw(stream).as_double();
  return values;
}

// The p-value of values against P(T = t) = p (1 - p)^(t-1); late values share a bucket.
double fit(double p, const std::vector<double>& values) {
  const auto draws = static_cast<double>(values.size());
  const auto last = static_cast<std::size_t>(std::log(draws) / -std::log1p(-p)) + 2;
  std::vector<double> expected(last + 2, 0.0);
  for (std::size_t t = 1; t <= last; ++t) {
    expected[t] = draws * p * std::exp(static_cast<double>(t - 1) * std::log1p(-p));
  }
  expected[last + 1] = draws * std::exp(static_cast<double>(last) * std::log1p(-p));
  std::vector<double> observed(expected.size(), 0.0);
  for (const double value : values) {
    ++observed[static_cast<std::size_t>(std::min(value, static_cast<double>(last + 1)))];
  }
  const Buckets buckets = pool_buckets(observed, expected);
  return chi_square(buckets.observed, buckets.expected).p_value;
}

constexpr std::size_t many = 1'000'000;

// The p-value against the exponential law, in buckets about as wide as the layers' steps.
template <class Draw>
double exponential_fit(Draw draw) {
  constexpr std::size_t count = 1200;
  constexpr double width = 0.01;
  Stream stream({.seed = 1});
  std::vector<double> observed(count + 1, 0.0), expected(count + 1, 0.0);
  for (std::size_t i = 0; i < 4 * many; ++i) {
    const double x = static_cast<double>(draw(stream)) * std::ldexp(1, -detail::exponential_bits);
    ++observed[std::min(count, static_cast<std::size_t>(x / width))];
  }
  for (std::size_t bucket = 0; bucket <= count; ++bucket) {
    const double rest = bucket == count ? 0 : std::exp(-width * static_cast<double>(bucket + 1));
    expected[bucket] = 4 * many * (std::exp(-width * static_cast<double>(bucket)) - rest);
  }
  const Buckets buckets = pool_buckets(observed, expected);
  return chi_square(buckets.observed, buckets.expected).p_value;
}

TEST(Exponential, HasItsLaw) {
  EXPECT_GE(exponential_fit([](Stream& stream) { return detail::exponential(stream); }), reject);
}

// A word beside the part of its layer that is under the curve must not count as one in it.
TEST(Exponential, DoesNotForgetTheCurvedPartsOfLayers) {
  const auto forgetful = [](Stream& stream) {
    for (;;) {
      const std::uint64_t word = stream.word();
      const std::uint64_t layer = word % detail::ExponentialLayers::count;
      if (word >> 8 >= detail::exponential_layers.inside[layer] && layer != 0) continue;
      const double part = static_cast<double>(word >> 8) * 0x1p-56;
      return static_cast<std::uint64_t>(
          part * static_cast<double>(detail::exponential_layers.width[layer]));
    }
  };
  EXPECT_LT(exponential_fit(forgetful), reject);
}

using Real = boost::multiprecision::cpp_bin_float_50;

Real exactly(Interactions count) {
  const Interactions::Wide wide = count.as_wide();
  return ldexp(Real(static_cast<std::uint64_t>(wide >> 64)), 64) +
         Real(static_cast<std::uint64_t>(wide));
}

// Each layer, with the part of it above the curve, up to the error that randomness.md states.
TEST(Exponential, HasLayersOfEqualAreaUpTo45Bits) {
  const auto& edge = detail::exponential_layers.edge;
  const Real lowest = (Real(edge[1]) + 1) * exp(-Real(edge[1]));  // with the tail
  for (std::size_t i = 1; i < detail::ExponentialLayers::count; ++i) {
    const Real height = exp(-Real(edge[i + 1])) - exp(-Real(edge[i]));
    EXPECT_LE(abs(edge[i] * height / lowest - 1), Real(0x1p-45)) << i;
  }
}

// The places inside a layer are so close that a border between two waits, of which the mean is
// below 2^32, is off by less than 2^-20 of a trial.
TEST(Exponential, HasFineSteps) {
  const double widest = detail::exponential_layers.edge[0] * 0x1p-56;
  EXPECT_LE(widest * 0x1p32, 0x1p-20);
  for (std::size_t i = 0; i < detail::ExponentialLayers::count; ++i) {
    const Real width = ldexp(Real(detail::exponential_layers.width[i]), -detail::exponential_bits);
    EXPECT_LE(abs(width - Real(detail::exponential_layers.edge[i])), Real(0x1p-52)) << i;
  }
}

// The rate at which P(T > t) falls, against 50 digits: from 1/4 down to 1/2^124, from simple
// fractions to those of which neither number is a double.
TEST(Geometric, DecaysAtItsRateUpTo50Bits) {
  std::vector<Odds> all{{1u, 5u}, {(1u << 28) - 1u, 1u << 30}, {249u, 1000u}, {1u, 1000u}};
  for (int exponent = 3; exponent <= 124; ++exponent) {
    const Interactions total = power_of_two(exponent);
    all.push_back({1u, total});
    all.push_back({1u, total - 1u});
    if (exponent > 60) all.push_back({power_of_two(exponent - 3) - 3u, total - 7u});
    if (exponent > 60) all.push_back({power_of_two(exponent - 11) - 3u, total - 7u});
  }
  for (const Odds& odds : all) {
    const double some = odds.successes.as_double();
    const double all_trials = odds.total.as_double();
    const Real exact = -1 / log1p(-exactly(odds.successes) / exactly(odds.total));
    const Real computed = detail::decay_time(some / all_trials, all_trials / some);
    EXPECT_LE(abs(computed / exact - 1), Real(0x1p-50)) << odds.name();
  }
}

TEST(Geometric, IsOneWhenSuccessIsCertain) {
  Stream stream({.seed = 1});
  for (const Interactions total : {Interactions(1u), Interactions(7u), power_of_two(124)}) {
    for (int draw = 0; draw < 100; ++draw) EXPECT_EQ(Geometric(total, total)(stream), 1u);
  }
}

TEST(Geometric, HasItsExactLaw) {
  for (const Odds& odds : common_odds()) {
    const double p_value = fit(odds.p(), sample(many, Geometric(odds.successes, odds.total)));
    EXPECT_GE(p_value, reject) << odds.name() << " seed=1, p = " << p_value;
    RecordProperty(odds.name(), std::to_string(p_value));
  }
}

// Both below and above by one: failures instead of trials, and a success counted twice.
TEST(Geometric, IsNotOffByOne) {
  for (const Odds& odds : common_odds()) {
    const Geometric right(odds.successes, odds.total);
    const auto less = [&](Stream& stream) { return right(stream) - 1u; };
    const auto more = [&](Stream& stream) { return right(stream) + 1u; };
    EXPECT_LT(fit(odds.p(), sample(many, less)), reject) << odds.name();
    EXPECT_LT(fit(odds.p(), sample(many, more)), reject) << odds.name();
  }
}

// A probability kept in eight bits only.
TEST(Geometric, DoesNotRoundTheProbability) {
  for (const Odds& odds : {Odds{1u, 20u}, Odds{1u, 1000u}}) {
    const double rounded = std::max(1.0, std::round(odds.p() * 256));
    const Geometric coarse(static_cast<std::uint64_t>(rounded), 256u);
    EXPECT_LT(fit(odds.p(), sample(many, coarse)), reject) << odds.name();
  }
}

// A rate of decay of p instead of -log(1 - p): the waiting time of a continuous clock.
TEST(Geometric, DoesNotTakeTheProbabilityForTheRate) {
  for (const Odds& odds : {Odds{1u, 5u}, Odds{1u, 20u}}) {
    const Geometric fine(1u, power_of_two(40));
    const auto clock = [&](Stream& stream) {
      const double exponential = fine(stream).as_double() / power_of_two(40).as_double();
      return Interactions(static_cast<std::uint64_t>(exponential / odds.p()) + 1);
    };
    EXPECT_LT(fit(odds.p(), sample(many, clock)), reject) << odds.name();
  }
}

TEST(Geometric, HasTheMeanAndVarianceOfSmallProbabilities) {
  constexpr double most_sigmas = 4.9;  // two-sided as improbable as `reject`
  for (const std::uint64_t total : {std::uint64_t{1'000'000}, std::uint64_t{1'000'000'000'000}}) {
    const double p = 1 / static_cast<double>(total);
    const double variance = (1 - p) / (p * p);
    const Summary summary = summarize(sample(many, Geometric(1u, total)));
    const double mean_error = std::sqrt(variance / many);
    const double variance_error = variance * std::sqrt(8.0 / many);  // excess kurtosis 6
    EXPECT_LE(std::abs(summary.mean - 1 / p), most_sigmas * mean_error) << total;
    EXPECT_LE(std::abs(summary.variance - variance), most_sigmas * variance_error) << total;
  }
}

// So rare that T p is exponential as far as a test can see.
const std::vector<Odds>& rare_odds() {
  static const std::vector<Odds> all{
      {1u, power_of_two(80)},     {1u, power_of_two(100)}, {3u, power_of_two(100)},
      {1000u, power_of_two(100)}, {5u, power_of_two(117)}, {2u, power_of_two(120)},
      {1u, power_of_two(124)},    {3u, power_of_two(124)}, {12345u, power_of_two(124)}};
  return all;
}

double exponential_fit(std::vector<double> values, double p) {
  std::ranges::sort(values);
  return kolmogorov_smirnov(values, [p](double t) { return -std::expm1(-t * p); }).p_value;
}

TEST(Geometric, OfHugeTotalsIsExponential) {
  for (const Odds& odds : rare_odds()) {
    const std::vector<double> values = sample(many / 4, Geometric(odds.successes, odds.total));
    const double p_value = exponential_fit(values, odds.p());
    EXPECT_GE(p_value, reject) << odds.name() << " seed=1, p = " << p_value;
    RecordProperty(odds.name(), std::to_string(p_value));
    EXPECT_LT(exponential_fit(values, odds.p() * 0.98), reject) << odds.name();
  }
}

// Every number of trials can come, not only multiples of something.
TEST(Geometric, OfHugeTotalsHasUniformLowBits) {
  for (const Odds& odds : rare_odds()) {
    const Geometric waiting_time(odds.successes, odds.total);
    Stream stream({.seed = 2});
    std::vector<double> counts(256, 0.0);
    for (std::size_t draw = 0; draw < many / 4; ++draw) {
      ++counts[static_cast<std::size_t>(waiting_time(stream).as_wide() & 0xff)];
    }
    EXPECT_GE(uniform_p_value(counts), reject) << odds.name() << " seed=2";
  }
}

// P(T >= 2^128) = e^-16 for 1/2^124: 4.5 of so many draws become the largest count.
TEST(Geometric, SaturatesAtTheLargestCount) {
  const Geometric waiting_time(1u, power_of_two(124));
  Stream stream({.seed = 3});
  int saturated = 0;
  for (int draw = 0; draw < 40'000'000; ++draw) {
    if (waiting_time(stream) == Interactions::max()) ++saturated;
  }
  EXPECT_GE(saturated, 1);
  EXPECT_LE(saturated, 20);
}

TEST(GeometricDeathTest, RefusesWhatIsNoProbability) {
  EXPECT_DEATH(Geometric(0u, 5u), "successes");
  EXPECT_DEATH(Geometric(6u, 5u), "successes");
}

// 192 cells of equal width, the last cut short by the bound, and the lowest byte.
template <class Draw>
bool is_uniform(Interactions bound, Draw draw) {
  constexpr std::size_t cells = 192;
  const Interactions width = (bound - 1u) / Interactions(std::uint64_t{cells}) + 1u;
  std::vector<double> weights(cells, width.as_double());
  weights.back() = (bound - width * Interactions(std::uint64_t{cells - 1})).as_double();
  std::vector<double> counts(cells, 0.0);
  std::vector<double> bytes(256, 0.0);
  Stream stream({.seed = 4});
  for (std::size_t i = 0; i < many / 4; ++i) {
    const Interactions value = draw(stream, bound);
    if (value >= bound) return false;
    ++counts[static_cast<std::size_t>(*(value / width).as_uint64())];
    ++bytes[static_cast<std::size_t>(value.as_wide() & 0xff)];
  }
  return p_value(counts, weights) >= reject && uniform_p_value(bytes) >= reject;
}

TEST(Below128, IsUniform) {
  const Interactions word = power_of_two(64);
  for (const Interactions bound :
       {Interactions(3'000'000'000u), word - 1u, word + 1u, word + 12345u, word * 3u,
        word * 3u + 1u, power_of_two(124) - 1u, power_of_two(124), power_of_two(124) + 1u}) {
    EXPECT_TRUE(is_uniform(bound, below128)) << to_string(bound) << " seed=4";
  }
}

// All words, and none of more bits. In a process of its own, which ends if this takes for ever.
TEST(Below128DeathTest, IsUniformBelowTwoToThe64) {
  EXPECT_EXIT(
      {
        alarm(10);
        std::exit(is_uniform(power_of_two(64), below128) ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(Below128, IsNotTakenModuloTheBound) {
  const auto modulo = [](Stream& stream, Interactions bound) {
    const Interactions::Wide random = static_cast<Interactions::Wide>(stream.word()) << 64;
    return Interactions::from_wide((random | stream.word()) >> 62) % bound;
  };
  EXPECT_FALSE(is_uniform(power_of_two(64) * 3u, modulo));
}

TEST(Below128, IsNotTruncated) {
  const auto truncated = [](Stream& stream, Interactions) { return Interactions(stream.word()); };
  EXPECT_FALSE(is_uniform(power_of_two(64) * 3u, truncated));
  EXPECT_FALSE(is_uniform(power_of_two(124), truncated));
}

}  // namespace
}  // namespace conclave::tests
