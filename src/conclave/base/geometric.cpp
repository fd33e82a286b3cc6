#include "conclave/base/geometric.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

#include "conclave/base/check.hpp"

namespace conclave {
namespace {

__extension__ using Wide = unsigned __int128;

// An exponential variate of mean 1 as a fixed-point number with 64 fractional bits (von Neumann
// 1951): a first word starts a run of decreasing words; if the run has odd length, the first word
// is the fraction, otherwise the whole part grows by one and another run is tried.
Wide exponential(Stream& stream) {
  for (std::uint64_t whole = 0;; ++whole) {
    const std::uint64_t fraction = stream.word();
    std::uint64_t last = fraction;
    bool odd = true;
    for (std::uint64_t next = stream.word(); next < last; next = stream.word()) {
      last = next;
      odd = !odd;
    }
    if (odd) return static_cast<Wide>(whole) << 64 | fraction;
  }
}

// -log(1 - p) for 0 < p <= 1/4 as 2 artanh(p / (2 - p)), by its series: basic arithmetic only.
double decay_rate(double p) {
  const double z = p / (2 - p);
  const double square = z * z;
  double sum = 0;
  for (int k = 19; k >= 1; k -= 2) sum = sum * square + 1.0 / k;
  return 2 * z * sum;
}

}  // namespace

Interactions below_wide(Stream& stream, Interactions bound) {
  if (const auto narrow = bound.as_uint64()) return stream.below64(*narrow);
  // Take as many bits as the largest result has, until they are below the bound: at most two tries
  // on average.
  const Wide largest = (bound - 1u).as_wide();
  if (largest >> 64 == 0) return stream.word();  // the bound is 2^64
  const int surplus = __builtin_clzll(static_cast<std::uint64_t>(largest >> 64));
  for (;;) {
    const Wide high = stream.word() >> surplus;
    const Wide candidate = high << 64 | stream.word();
    if (candidate <= largest) return Interactions::from_wide(candidate);
  }
}

Geometric::Geometric(Interactions successes, Interactions total)
    : successes_(successes), total_(total) {
  CONCLAVE_CHECK(successes > 0u && successes <= total);
  if (successes >= total / 4u) return;
  // P(floor(E / rate) >= t) = exp(-rate t) = (1 - p)^t for an exponential variate E.
  const double mean = 1 / decay_rate(successes.as_double() / total.as_double());
  int exponent = 0;
  const double mantissa = std::frexp(mean, &exponent);  // in [1/2, 1)
  digits_ = static_cast<std::uint64_t>(std::ldexp(mantissa, 53));
  shift_ = 64 + 53 - exponent;
}

Interactions Geometric::try_one_by_one(Stream& stream) const {
  Interactions trials = 1u;
  if (successes_ == total_) return trials;
  while (below_wide(stream, total_) >= successes_) ++trials;
  return trials;
}

Interactions Geometric::jump(Stream& stream) const {
  Wide product = exponential(stream) * digits_;
  if (shift_ > finely_from_) return Interactions::from_wide((product >> shift_) + 1);
  // A long wait needs more than the 64 fractional bits of one variate: another word continues them.
  const Wide finer = static_cast<Wide>(stream.word()) * digits_;
  product += finer >> 64;
  if (shift_ >= 0) return Interactions::from_wide((product >> shift_) + 1);
  if (product >> (128 + shift_) != 0) return Interactions::max();
  const Wide low_bits = static_cast<std::uint64_t>(finer) >> (64 + shift_);
  return Interactions::from_wide(product << -shift_ | low_bits) + 1u;
}

}  // namespace conclave
