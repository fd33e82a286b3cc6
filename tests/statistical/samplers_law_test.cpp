// The samplers of counts against their exact laws, from the smallest parameters to
// 2^62. Each check must also reject samplers with a named mistake.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/random.hpp"
#include "conclave/base/statistics.hpp"
#include "conclave/base/variates.hpp"

#include "tests/mutants/broken_draws.hpp"
#include "tests/support/count_laws.hpp"
#include "tests/unit/uniformity.hpp"

namespace conclave::tests {
namespace {

constexpr std::uint64_t power(int exponent) { return std::uint64_t{1} << exponent; }
constexpr std::uint64_t largest = power(62);
constexpr std::size_t many = 200'000;

template <class Next>
std::vector<std::uint64_t> sample(std::size_t size, Next next) {
  Stream stream({.seed = 1});
  std::vector<std::uint64_t> values(size);
  for (std::uint64_t& value : values) value = next(stream);
  return values;
}

template <class Sampler>
double fit_draw(const Draw& draw, Sampler sampler, std::size_t size = many) {
  const auto next = [&](Stream& stream) {
    return sampler(draw.total, draw.marked, draw.draws, stream);
  };
  return fit(hypergeometric_law(draw), sample(size, next));
}

// Small ones, the borders between methods (few draws, mean 1, mean 16), and the extreme corners.
const std::vector<Draw>& draws() {
  static const std::vector<Draw> all{
      {44, 22, 22},
      {60, 30, 30},
      {62, 31, 31},
      {64, 32, 32},
      {66, 33, 33},
      {70, 33, 33},
      {75, 37, 33},
      {100, 50, 50},
      {100, 20, 50},
      {100, 97, 60},
      {1000, 100, 100},
      {1000, 99, 99},
      {1000, 500, 500},
      {1000, 20, 40},
      {1000, 980, 960},
      {100'000, 5, 70'000},
      {1'000'000, 1000, 1000},
      {1'000'000, 3162, 3162},
      {1'000'000, 3163, 3163},
      {1'000'000, 4000, 4000},
      {1'000'000, 4001, 4000},
      {1'000'000, 500'000, 33},
      {1'000'000, 500'000, 32},
      {1'000'000, 31'250, 32},
      {1'000'000, 31'249, 32},
      {1'000'000, 4, 4},
      {1'000'000, 400'000, 5},
      {1'000'000, 999'999, 999'999},
      {1'000'000'000, 300'000'000, 30'000},
      {10'000'000'000, 10, 100'000},
      {10'000'000'000, 90'000, 100'000},
      {10'000'000'000, 700'000, 100'000},
      {10'000'000'000, 7'000'000'000, 100'000},
      {power(50), power(49) + power(40), 30'000'000},
      {power(50), 40'000'000, 30'000'000},
      {power(50), 300'000'000, 30'000'000},
      {power(50), power(50) - 500'000'000, 30'000'000},
      {largest, 1, 1},
      {largest, largest, 12345},
      {largest, largest / 2, 1},
      {largest, largest - 1, largest - 1},
      {largest, largest / 2, 5},
      {largest, largest / 3, 1000},
      {largest, largest / 2, power(31)},
      {largest, power(31), power(31)},
      {largest, power(33), power(32)},
      {largest, power(36), power(31)},
      {largest, largest - power(36), largest - power(31)},
      {largest, 30, largest / 3},
      {largest, 20'000, largest / 2 + 1},
      {largest - 1, power(40), power(42)},
  };
  return all;
}

TEST(Hypergeometric, HasItsExactLaw) {
  for (const Draw& draw : draws()) {
    const double p = fit_draw(draw, hypergeometric);
    EXPECT_GE(p, reject) << draw.name() << " seed=1, p = " << p;
    RecordProperty(draw.name(), std::to_string(p));
  }
}

TEST(Hypergeometric, HasItsExactLawForAllSmallParameters) {
  for (std::uint64_t total = 1; total <= 12; ++total) {
    for (std::uint64_t marked = 0; marked <= total; ++marked) {
      for (std::uint64_t drawn = 0; drawn <= total; ++drawn) {
        const Draw draw{total, marked, drawn};
        EXPECT_GE(fit_draw(draw, hypergeometric, 10'000), reject) << draw.name();
      }
    }
  }
}

TEST(Hypergeometric, IsNotBinomial) {
  for (const Draw& draw : {Draw{100, 20, 50}, Draw{1000, 20, 40}, Draw{1000, 500, 500}}) {
    EXPECT_LT(fit_draw(draw, mutants::with_replacement), reject) << draw.name();
  }
}

TEST(Hypergeometric, IsNotPoissonForSmallMeans) {
  for (const Draw& draw : {Draw{1000, 99, 99}, Draw{1000, 20, 40}}) {
    EXPECT_LT(fit_draw(draw, mutants::poisson_draws), reject) << draw.name();
  }
}

// Log factorials in double: indistinguishable for small populations, wrong for large ones.
TEST(Hypergeometric, DoesNotLoseDigitsOfLogFactorials) {
  EXPECT_GE(fit_draw({1'000'000, 3163, 3163}, mutants::by_log_factorials), reject);
  for (const Draw& draw : {Draw{power(50), power(49), 30'000'000},
                           Draw{largest, power(36), power(31)}, Draw{largest, largest / 3, 1000}}) {
    EXPECT_LT(fit_draw(draw, mutants::by_log_factorials), reject) << draw.name();
  }
}

// So wide that the law is normal as far as a test can see.
double normal_fit(const Draw& draw, const std::vector<std::uint64_t>& values) {
  const double deviation = std::sqrt(draw.variance());
  const auto center = static_cast<std::uint64_t>(draw.mean());
  std::vector<double> excess;
  for (const std::uint64_t value : values) {
    excess.push_back(static_cast<double>(static_cast<std::int64_t>(value - center)) / deviation);
  }
  std::ranges::sort(excess);
  return kolmogorov_smirnov(excess, [](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; })
      .p_value;
}

double low_bits_fit(const std::vector<std::uint64_t>& values) {
  std::vector<double> counts(64, 0.0);
  for (const std::uint64_t value : values) ++counts[value % counts.size()];
  return uniform_p_value(counts);
}

TEST(Hypergeometric, IsNormalWithAllItsDigitsForHugeDraws) {
  for (const Draw& draw :
       {Draw{largest, largest / 2, largest / 2}, Draw{largest, largest / 4, largest / 2},
        Draw{largest, power(60), power(45)}}) {
    const auto next = [&](Stream& stream) {
      return hypergeometric(draw.total, draw.marked, draw.draws, stream);
    };
    const std::vector<std::uint64_t> values = sample(many, next);
    EXPECT_GE(normal_fit(draw, values), reject) << draw.name();
    EXPECT_GE(low_bits_fit(values), reject) << draw.name();
  }
}

TEST(Hypergeometric, KeepsItsBits) {
  Stream stream({.seed = 7});
  std::vector<std::uint64_t> found;
  for (const Draw& draw : draws()) {
    std::uint64_t digest = 0;
    for (int i = 0; i < 1000; ++i) {
      digest = digest * 31 + hypergeometric(draw.total, draw.marked, draw.draws, stream);
    }
    found.push_back(digest);
  }
  const std::uint64_t all = std::accumulate(
      found.begin(), found.end(), std::uint64_t{0},
      [](std::uint64_t sum, std::uint64_t digest) { return sum * 1'000'003 + digest; });
  EXPECT_EQ(all, 8010714666387088660u);
}

TEST(Binomial, HasItsExactLaw) {
  const std::vector<Trials> cases{{1, 1, 2},
                                  {4, 1, 3},
                                  {12, 2, 3},
                                  {17, 1, 2},
                                  {20, 9, 10},
                                  {33, 1, 2},
                                  {40, 1, 2},
                                  {1000, 16, 1000},
                                  {1000, 16, 1001},
                                  {100, 1, 1000},
                                  {1000, 1, 101},
                                  {1000, 1, 99},
                                  {100'000, 1, 3},
                                  {100'000, 99'999, 100'000},
                                  {1'000'000'000, 1, largest / 3},
                                  {1'000'000'000, 1'000'000'007, largest},
                                  {largest, 1, largest},
                                  {largest, 500, largest - 1},
                                  {power(31), largest / 2 + 1, largest}};
  for (const Trials& coins : cases) {
    const CountLaw law = binomial_law(coins);
    const auto next = [&](Stream& stream) {
      return binomial(coins.trials, coins.numerator, coins.denominator, stream);
    };
    const double p = fit(law, sample(many, next));
    EXPECT_GE(p, reject) << law.name << " seed=1, p = " << p;
    RecordProperty(law.name, std::to_string(p));
  }
}

TEST(Binomial, IsNotHypergeometric) {
  const auto next = [](Stream& stream) { return hypergeometric(2000, 1000, 1000, stream); };
  EXPECT_LT(fit(binomial_law({1000, 1, 2}), sample(many, next)), reject);
}

TEST(Binomial, IsCertainForProbabilitiesZeroAndOne) {
  Stream stream({.seed = 1});
  for (const std::uint64_t trials : {std::uint64_t{0}, std::uint64_t{3}, power(40), largest}) {
    EXPECT_EQ(binomial(trials, 0, 7, stream), 0u);
    EXPECT_EQ(binomial(trials, 7, 7, stream), trials);
  }
}

}  // namespace
}  // namespace conclave::tests
