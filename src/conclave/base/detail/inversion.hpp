// Two ways from random words to a count with a given law: adding up probabilities from 0 on, and
// rejection from a rectangle.
#pragma once

#include <cstdint>

#include "conclave/base/check.hpp"
#include "conclave/base/detail/contingency.hpp"
#include "conclave/base/detail/logarithms.hpp"
#include "conclave/base/random.hpp"

namespace conclave::detail {

inline constexpr double two_63 = 0x1p63;

// A probability in units of 2^-63.
inline std::uint64_t fixed_point(double probability) {
  const double scaled = probability * two_63;
  if (scaled >= two_63) return std::uint64_t{1} << 63;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(scaled));
}

// The least k at which the sum of the first k + 1 probabilities exceeds u / 2^63, for probabilities
// that begin with `first`, not negligible, and continue by the ratios that next_ratio gives. Where
// rounding errors leave nothing to add before the sum gets there, u is drawn again. O(k).
template <class NextRatio>
std::uint64_t invert(std::uint64_t u, double first, Stream& stream, NextRatio next_ratio) {
  for (;; u = stream.word() >> 1) {
    auto ratio = next_ratio;
    double probability = first;
    std::uint64_t share = fixed_point(first);
    CONCLAVE_CHECK_SLOW(share > 0);
    for (std::uint64_t k = 0; share > 0; ++k) {
      if (u < share) return k;
      u -= share;
      probability *= ratio();
      share = fixed_point(probability);
    }
  }
}

// Whether 2 log(x) + cost <= 0, where a quick estimate of the cost may be enough, and bounds of the
// logarithm: it lies between x - 1/x and x (4 - x) - 3. The cost is convex, so that an excess too
// large for the estimate costs at least as much as the nearest that is not.
template <class Cost>
bool accepts(double x, std::uint64_t k, double excess, double bound, const QuickCost& quick,
             const Cost& cost) {
  constexpr double error_of_log = 0x1p-29;
  const double nearest = quick.nearest(excess);
  const bool is_near = nearest == excess;
  const double estimate = quick.cost(nearest) + bound;
  const double error = quick.error(nearest);
  if (x * (4 - x) - 3 + (estimate + error) <= 0 && is_near) return true;
  if (x * (x + (estimate - error)) > 1) return false;
  const double balance = 2 * log_of<4>(x) + estimate;
  if (balance > error + error_of_log) return false;
  if (balance < -(error + error_of_log) && is_near) return true;
  const double exact_cost = cost(k, excess) + bound;
  CONCLAVE_CHECK_SLOW(exact_cost >= 0);
  return 2 * log_of(x) + exact_cost <= 0;
}

// The width of Stadlober's rectangle (1990) for binomial and hypergeometric laws: exp(-(cost(k) +
// bound) / 2) (|k - mean| + 1/2) is at most half of it, for each k.
inline double rectangle_width(double variance) {
  constexpr double slope = 1.7155277699214135;   // 2 sqrt(2 / e)
  constexpr double offset = 0.8989161620588988;  // 3 - 2 sqrt(3 / e)
  return slope * __builtin_sqrt(variance + 0.5) + offset;
}

// Ratio of uniforms (Kinderman and Monahan 1977) on 0 ... last: k is accepted when x^2 is at most
// exp(-cost(k) - bound), where P(k) is proportional to exp(-cost(k)). Needs 1.4 tries on average.
// The mean is at least 10.
template <class Cost>
std::uint64_t ratio_of_uniforms(const Mean& mean, double variance, std::uint64_t last,
                                const QuickCost& quick, const Cost& cost, Stream& stream) {
  const double width = rectangle_width(variance);
  const double bound = quick.bound();  // no cost is less than -bound
  for (;;) {
    const double x = static_cast<double>(static_cast<std::int64_t>(stream.word() >> 11) + 1);
    const double y = static_cast<double>(static_cast<std::int64_t>(stream.word()) >> 11) + 0.5;
    const double place = mean.rest + 0.5 + width * (y / x);
    if (!(place > -0x1p62 && place < 0x1p62)) continue;
    auto above = static_cast<std::int64_t>(place);
    above -= static_cast<double>(above) > place ? 1 : 0;
    const std::uint64_t k = mean.whole + static_cast<std::uint64_t>(above);
    if (k > last) continue;  // also where it would be negative
    const double excess = static_cast<double>(above) - mean.rest;
    if (accepts(x * 0x1p-53, k, excess, bound, quick, cost)) return k;
  }
}

}  // namespace conclave::detail
