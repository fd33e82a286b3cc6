// Two ways from random words to a count with a given law: adding up probabilities from 0 on, and
// rejection from a rectangle.
#pragma once

#include <cstdint>

#include "conclave/base/check.hpp"
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
// that begin with `first` and continue by the ratios next() gives. What lies beyond `last`, at most
// a few units of 2^-50 by rounding, is drawn again. O(k).
template <class NextRatio>
std::uint64_t invert(std::uint64_t u, double first, std::uint64_t last, Stream& stream,
                     NextRatio next_ratio) {
  for (;; u = stream.word() >> 1) {
    auto ratio = next_ratio;
    double probability = first;
    for (std::uint64_t k = 0; k <= last; ++k) {
      const std::uint64_t share = fixed_point(probability);
      if (u < share) return k;
      u -= share;
      probability *= ratio();
    }
  }
}

// Ratio of uniforms (Kinderman and Monahan 1977) with Stadlober's rectangle (1990), which covers
// binomial and hypergeometric laws: k is accepted when x^2 <= P(k) / bound, for `log_ratio(k)` the
// logarithm of the right side, at most 0. About 1.4 tries. k counts from the whole part of the
// mean; candidates outside of low ... high have probability 0.
template <class LogRatio>
std::int64_t ratio_of_uniforms(double rest_of_mean, double variance, std::int64_t low,
                               std::int64_t high, Stream& stream, LogRatio log_ratio) {
  constexpr double slope = 1.7155277699214135;   // 2 sqrt(2 / e)
  constexpr double offset = 0.8989161620588988;  // 3 - 2 sqrt(3 / e)
  const double width = slope * __builtin_sqrt(variance + 0.5) + offset;
  for (;;) {
    const double x = static_cast<double>((stream.word() >> 11) + 1) * 0x1p-53;
    const double y = static_cast<double>(static_cast<std::int64_t>(stream.word()) >> 11);
    const double place = rest_of_mean + 0.5 + width * ((y + 0.5) * 0x1p-53) / x;
    if (!(place > -0x1p62 && place < 0x1p62)) continue;
    auto k = static_cast<std::int64_t>(place);
    k -= static_cast<double>(k) > place;
    if (k < low || k > high) continue;
    const double target = log_ratio(k);
    CONCLAVE_CHECK_SLOW(target <= 0);
    if (x * (4 - x) - 3 <= target) return k;
    if (x * (x - target) >= 1) continue;
    if (2 * log_of(x) <= target) return k;
  }
}

}  // namespace conclave::detail
