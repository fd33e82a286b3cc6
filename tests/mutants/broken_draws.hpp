// Samplers of counts and of run lengths with one mistake each.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "conclave/base/random.hpp"
#include "conclave/base/variates.hpp"

namespace conclave::tests::mutants {

inline double uniform(Stream& stream) {
  return (static_cast<double>(stream.word() >> 11) + 0.5) * 0x1p-53;
}

// Puts every drawn agent back.
inline std::uint64_t with_replacement(std::uint64_t total, std::uint64_t marked,
                                      std::uint64_t draws, Stream& stream) {
  return binomial(draws, marked, total, stream);
}

// Takes rare marked agents for independent ones: Poisson instead of hypergeometric.
inline std::uint64_t poisson_draws(std::uint64_t total, std::uint64_t marked, std::uint64_t draws,
                                   Stream& stream) {
  const double mean =
      static_cast<double>(marked) * static_cast<double>(draws) / static_cast<double>(total);
  std::uint64_t k = 0;
  for (double product = uniform(stream); product > std::exp(-mean); ++k) product *= uniform(stream);
  return k;
}

// Log factorials as doubles, which have no digit behind the point left for large populations.
inline double log_factorials(double total, double marked, double draws, double k) {
  return -std::lgamma(k + 1) - std::lgamma(marked - k + 1) - std::lgamma(draws - k + 1) -
         std::lgamma(total - marked - draws + k + 1);
}

inline std::uint64_t by_log_factorials(std::uint64_t total, std::uint64_t marked,
                                       std::uint64_t draws, Stream& stream) {
  const auto n = static_cast<double>(total), m = static_cast<double>(marked),
             d = static_cast<double>(draws);
  const double mean = m * d / n;
  const double deviation = std::sqrt(mean * (1 - m / n) * (1 - d / n) + 0.5);
  const double highest = log_factorials(n, m, d, std::floor((m + 1) * (d + 1) / (n + 2)));
  for (;;) {
    const double x = uniform(stream);
    const double width = 1.7155277699214135 * deviation + 0.8989161620588988;
    const double k = std::floor(mean + 0.5 + width * (uniform(stream) - 0.5) / x);
    if (k < 0 || k > d || k > m) continue;
    if (2 * std::log(x) <= log_factorials(n, m, d, k) - highest) {
      return static_cast<std::uint64_t>(k);
    }
  }
}

// How many interactions there are before the first with one of the `used` agents that have met
// somebody: inverts P(T >= t) by log factorials in double, by halving.
inline std::uint64_t run_by_log_factorials(std::uint64_t n, std::uint64_t used, Stream& stream) {
  const auto fresh = static_cast<double>(n - used);
  const double pairs = std::log(static_cast<double>(n)) + std::log(static_cast<double>(n - 1));
  const double limit = std::log(uniform(stream));
  std::uint64_t low = 0, high = (n - used) / 2;
  while (low < high) {
    const std::uint64_t middle = low + (high - low + 1) / 2;
    const auto t = static_cast<double>(middle);
    const double log_survival = std::lgamma(fresh + 1) - std::lgamma(fresh - 2 * t + 1) - t * pairs;
    if (log_survival >= limit) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

}  // namespace conclave::tests::mutants
