#include "conclave/base/geometric.hpp"

#include <bit>
#include <cstdint>
#include <limits>

#include "conclave/base/check.hpp"
#include "conclave/base/detail/exponential.hpp"
#include "conclave/base/detail/logarithms.hpp"

namespace conclave {
namespace {

__extension__ using Wide = unsigned __int128;

// An exponential variate of mean 1 as a fixed-point number with 64 fractional bits (von Neumann
// 1951): a first word starts a run of decreasing words; if the run has odd length, the first word
// is the fraction, otherwise the whole part grows by one and another run is tried.
Wide fine_exponential(Stream& stream) {
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

}  // namespace

namespace detail {

std::uint64_t exponential_outside(std::uint64_t word, Stream& stream) {
  constexpr double unit = 1.0 / (std::uint64_t{1} << exponential_bits);
  const std::uint64_t layer = word % ExponentialLayers::count;
  if (layer == 0) return exponential_layers.width[1] + exponential(stream);  // without memory
  const std::uint64_t place = word / ExponentialLayers::count;
  const auto x =
      static_cast<std::uint64_t>(static_cast<Wide>(place) * exponential_layers.width[layer] >> 56);
  const double low = exp_of(-exponential_layers.edge[layer]);
  const double high = exp_of(-exponential_layers.edge[layer + 1]);
  const double y = static_cast<double>(stream.word() >> 11) * 0x1p-53;
  const bool is_under = low + y * (high - low) < exp_of(-static_cast<double>(x) * unit);
  return is_under ? x : exponential(stream);
}

}  // namespace detail

Interactions below128(Stream& stream, Interactions bound) {
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
  if (successes.as_wide() >= total.as_wide() >> 2) return;
  // P(floor(E mean) >= t) = exp(-t / mean) = (1 - p)^t for an exponential variate E.
  const double some = successes.as_double();
  const double all = total.as_double();
  const double mean = detail::decay_time(some / all, all / some);
  const auto bits = std::bit_cast<std::uint64_t>(mean);
  constexpr std::uint64_t leading_bit = std::uint64_t{1} << 52;
  digits_ = (bits & (leading_bit - 1)) | leading_bit;
  shift_ = 64 + 52 + 1023 - static_cast<int>(bits >> 52);
}

Interactions Geometric::try_one_by_one(Stream& stream) const {
  Interactions trials = 1u;
  if (successes_ == total_) return trials;
  while (below128(stream, total_) >= successes_) ++trials;
  return trials;
}

Interactions Geometric::jump(Stream& stream) const {
  if (shift_ > finely_from_) {
    const Wide product = static_cast<Wide>(detail::exponential(stream)) * digits_;
    return Interactions::from_wide((product >> (shift_ - (64 - detail::exponential_bits))) + 1);
  }
  // A long wait needs more fractional bits, even more than 64: another word continues them.
  Wide product = fine_exponential(stream) * digits_;
  const Wide finer = static_cast<Wide>(stream.word()) * digits_;
  product += finer >> 64;
  if (shift_ >= 0) return Interactions::from_wide((product >> shift_) + 1);
  if (product >> (128 + shift_) != 0) return Interactions::max();
  const Wide low_bits = static_cast<std::uint64_t>(finer) >> (64 + shift_);
  return Interactions::from_wide(product << -shift_ | low_bits) + 1u;
}

}  // namespace conclave
