#include "conclave/base/variates.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "conclave/base/check.hpp"
#include "conclave/base/detail/contingency.hpp"
#include "conclave/base/detail/inversion.hpp"

namespace conclave {
namespace {

using detail::Cell;
using detail::deviance;
using detail::Mean;
using detail::Pair;
using detail::real;

// After the symmetries: draws <= marked <= total / 2.
struct Urn {
  std::uint64_t total;
  std::uint64_t marked;
  std::uint64_t draws;

  std::uint64_t neither() const { return total - marked - draws; }
};

// Exact, one word per draw.
std::uint64_t draw_one_by_one(const Urn& urn, Stream& stream) {
  std::uint64_t found = 0;
  for (std::uint64_t done = 0; done < urn.draws; ++done) {
    found += stream.below64(urn.total - done) < urn.marked - found ? 1 : 0;
  }
  return found;
}

// P(0) from its four cells; `mean` is the expected content of the first. Some agents are neither
// marked nor drawn, as otherwise both are half of the population, the mean is large or draws few.
double probability_of_none(const Urn& urn, double mean) {
  const double marked = real(urn.marked);
  const double draws = real(urn.draws);
  const double neither = real(urn.neither());
  CONCLAVE_CHECK_SLOW(neither > 0);
  const double t_marked = draws / real(urn.total - urn.draws);
  const double t_draws = marked / real(urn.total - urn.marked);
  const double t_neither = -(t_marked * t_draws);
  const double log_neither = detail::log1p_minus(t_neither);
  double cost = mean + (t_neither + log_neither) / 2;
  cost += deviance(marked, mean, t_marked, detail::log1p_minus(t_marked));
  cost += deviance(draws, mean, t_draws, detail::log1p_minus(t_draws));
  cost += deviance(neither, -mean, t_neither, log_neither);
  constexpr double negligible = 0x1p27;  // the four corrections together are below mean / total^2
  if (neither < negligible) {
    cost += detail::stirling(neither) + detail::stirling(real(urn.total));
    cost -= detail::stirling(neither + marked) + detail::stirling(neither + draws);
  }
  return detail::exp_of(-cost);
}

// P(k + 1) / P(k) for k = 0, 1, ...
struct NextRatio {
  double marked;
  double draws;
  double neither;
  double k = 0;

  double operator()() {
    const double ratio = (marked - k) * (draws - k) / ((k + 1) * (neither + (k + 1)));
    k += 1;
    return ratio;
  }
};

std::uint64_t draw_by_inversion(const Urn& urn, double mean, Stream& stream) {
  const std::uint64_t u = stream.word() >> 1;
  // P(k > 0) is at most the mean, which settles most of the rare events without computing P(0).
  if (mean < 1 && u < detail::fixed_point(1 - mean * (1 + 0x1p-40))) return 0;
  const NextRatio next{real(urn.marked), real(urn.draws), real(urn.neither())};
  return detail::invert(u, probability_of_none(urn, mean), stream, next);
}

std::uint64_t draw_by_rejection(const Urn& urn, const Mean& mean, Stream& stream) {
  const double both = mean.value;
  const double marked = real(urn.marked) - both;
  const double drawn = real(urn.draws) - both;
  const double neither = real(urn.neither()) + both;
  const auto cost = [&](std::uint64_t k, double excess) {
    return Cell(both).cost(real(k), excess) + Cell(marked).cost(real(urn.marked - k), -excess) +
           Cell(drawn).cost(real(urn.draws - k), -excess) +
           Cell(neither).cost(real(urn.neither() + k), excess);
  };
  const detail::QuickCost quick(Pair{both, neither}, Pair{marked, drawn});
  const double variance = both * neither / (real(urn.total) - 1);
  return detail::ratio_of_uniforms(mean, variance, urn.draws, quick, cost, stream);
}

std::uint64_t draw(const Urn& urn, Stream& stream) {
  constexpr std::uint64_t few = 4, several = 32;
  constexpr double much = 16;
  if (urn.draws <= few) return draw_one_by_one(urn, stream);
  const Mean mean = detail::mean_of(urn.marked, urn.draws, urn.total);
  if (urn.draws <= several && mean.value >= 1) return draw_one_by_one(urn, stream);
  if (mean.value < much) return draw_by_inversion(urn, mean.value, stream);
  return draw_by_rejection(urn, mean, stream);
}

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
  // As for hypergeometric: P(k > 0) is at most the mean.
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

using detail::Pair;

std::uint64_t by_inversion(double mean, Stream& stream) {
  const std::uint64_t u = stream.word() >> 1;
  const auto next_ratio = [=, k = 0.0]() mutable {
    k += 1;
    return mean / k;
  };
  return detail::invert(u, detail::exp_of(-mean), stream, next_ratio);
}

// The limit of a binomial law whose failures are without bound: one cell of the table is left.
std::uint64_t by_rejection(double mean, Stream& stream) {
  const auto whole = static_cast<std::uint64_t>(mean);
  const detail::Mean parts{whole, mean - static_cast<double>(whole), mean};
  const auto cost = [&](std::uint64_t k, double excess) {
    return detail::Cell(mean).cost(detail::real(k), excess);
  };
  constexpr double nothing = std::numeric_limits<double>::infinity();
  const detail::QuickCost quick(Pair{mean, nothing}, Pair{nothing, nothing});
  constexpr std::uint64_t largest = std::uint64_t{1} << 62;
  return detail::ratio_of_uniforms(parts, mean, largest, quick, cost, stream);
}

}  // namespace

std::uint64_t hypergeometric(std::uint64_t total, std::uint64_t marked, std::uint64_t draws,
                             Stream& stream) {
  CONCLAVE_CHECK(total <= std::uint64_t{1} << 62);
  CONCLAVE_CHECK(marked <= total && draws <= total);
  // The unmarked drawn instead of the marked, and the agents left instead of those drawn.
  const bool count_unmarked = marked > total / 2;
  const bool count_left = draws > total / 2;
  const std::uint64_t few_marked = count_unmarked ? total - marked : marked;
  const std::uint64_t few_draws = count_left ? total - draws : draws;
  const Urn urn{total, std::max(few_marked, few_draws), std::min(few_marked, few_draws)};
  std::uint64_t found = draw(urn, stream);
  if (count_left) found = few_marked - found;
  return count_unmarked ? draws - found : found;
}

std::uint64_t binomial(std::uint64_t trials, std::uint64_t numerator, std::uint64_t denominator,
                       Stream& stream) {
  constexpr std::uint64_t largest = std::uint64_t{1} << 62;
  CONCLAVE_CHECK(trials <= largest && denominator <= largest);
  CONCLAVE_CHECK(denominator > 0 && numerator <= denominator);
  if (numerator <= denominator / 2) return try_all({trials, numerator, denominator}, stream);
  return trials - try_all({trials, denominator - numerator, denominator}, stream);
}

std::uint64_t poisson(double mean, Stream& stream) {
  CONCLAVE_CHECK(mean >= 0 && mean <= 0x1p61);
  constexpr double much = 16;
  return mean < much ? by_inversion(mean, stream) : by_rejection(mean, stream);
}

}  // namespace conclave
