#include "conclave/base/binomial.hpp"

#include <limits>

#include "conclave/base/check.hpp"
#include "conclave/base/detail/contingency.hpp"
#include "conclave/base/detail/inversion.hpp"

namespace conclave {
namespace {

using detail::Cell;
using detail::Mean;
using detail::Pair;
using detail::real;

// After the symmetry: numerator <= denominator / 2.
struct Coins {
  std::uint64_t trials;
  std::uint64_t numerator;
  std::uint64_t denominator;
};

// Exact, one word per trial.
std::uint64_t try_one_by_one(const Coins& coins, Stream& stream) {
  std::uint64_t found = 0;
  for (std::uint64_t done = 0; done < coins.trials; ++done) {
    found += stream.below64(coins.denominator) < coins.numerator ? 1 : 0;
  }
  return found;
}

std::uint64_t try_by_inversion(const Coins& coins, double mean, Stream& stream) {
  const std::uint64_t u = stream.word() >> 1;
  // As in hypergeometric.cpp: P(k > 0) is at most the mean.
  if (mean < 1 && u < detail::fixed_point(1 - mean * (1 + 0x1p-40))) return 0;
  const double p = real(coins.numerator) / real(coins.denominator);
  const double trials = real(coins.trials);
  const double none = detail::exp_of(trials * detail::log1p_minus(-p) - mean);
  const double odds = real(coins.numerator) / real(coins.denominator - coins.numerator);
  const auto next_ratio = [=, k = 0.0]() mutable {
    const double ratio = (trials - k) * odds / (k + 1);
    k += 1;
    return ratio;
  };
  return detail::invert(u, none, stream, next_ratio);
}

std::uint64_t try_by_rejection(const Coins& coins, const Mean& mean, Stream& stream) {
  const double successes = mean.value;
  const double failures = real(coins.trials) - successes;
  const auto cost = [&](std::uint64_t k, double excess) {
    return Cell(successes).cost(real(k), excess) +
           Cell(failures).cost(real(coins.trials - k), -excess);
  };
  constexpr double nothing = std::numeric_limits<double>::infinity();
  const detail::QuickCost quick(Pair{successes, nothing}, Pair{failures, nothing});
  const double variance = successes * (failures / real(coins.trials));
  return detail::ratio_of_uniforms(mean, variance, coins.trials, quick, cost, stream);
}

std::uint64_t try_all(const Coins& coins, Stream& stream) {
  constexpr std::uint64_t few = 4, several = 32;
  constexpr double much = 16;
  if (coins.trials <= few) return try_one_by_one(coins, stream);
  const Mean mean = detail::mean_of(coins.trials, coins.numerator, coins.denominator);
  if (coins.trials <= several && mean.value >= 1) return try_one_by_one(coins, stream);
  if (mean.value < much) return try_by_inversion(coins, mean.value, stream);
  return try_by_rejection(coins, mean, stream);
}

}  // namespace

std::uint64_t binomial(std::uint64_t trials, std::uint64_t numerator, std::uint64_t denominator,
                       Stream& stream) {
  constexpr std::uint64_t largest = std::uint64_t{1} << 62;
  CONCLAVE_CHECK(trials <= largest && denominator <= largest);
  CONCLAVE_CHECK(denominator > 0 && numerator <= denominator);
  if (numerator <= denominator / 2) return try_all({trials, numerator, denominator}, stream);
  return trials - try_all({trials, denominator - numerator, denominator}, stream);
}

}  // namespace conclave
