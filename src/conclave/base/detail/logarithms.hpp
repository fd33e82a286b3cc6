// Logarithms, exponentials and Stirling's correction by basic arithmetic alone, so that they have
// the same bits on every machine.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace conclave::detail {

// The sum of y^j / (3 + 2 j) for j < terms: artanh(v) is v + v^3 times this, for y = v^2. Even and
// odd terms are two independent chains of operations.
template <int terms>
constexpr double artanh_tail(double y) {
  const double square = y * y;
  double sums[2] = {0, 0};
#pragma GCC unroll 40
  for (int j = terms - 1; j >= 0; --j) sums[j % 2] = sums[j % 2] * square + 1.0 / (3 + 2 * j);
  return sums[0] + y * sums[1];
}

// log(1 + t) - t without cancellation: with v = t / (2 + t), log(1 + t) is 2 artanh(v), and 2 v - t
// = -t v. Each term is v^2 times the one before; ten are enough for |t| < 0.29.
template <int terms>
constexpr double log1p_minus_series(double t) {
  const double v = t / (2 + t);
  const double y = v * v;
  return v * (2 * y * artanh_tail<terms>(y) - t);
}

inline constexpr double log2_high = 0x1.62e42fefa3800p-1;  // log 2, 42 bits: times any exponent
inline constexpr double log2_low = 0x1.ef35793c76730p-45;  // exact; and the rest
inline constexpr double half_log_two_pi = 0.91893853320467274178;

// log(x) for normal x > 0. With 10 terms the relative error is below 2^-50, with 4 terms the
// absolute error is below 2^-30.
template <int terms = 10>
constexpr double log_of(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  // Adding the distance of sqrt(1/2) from 1 carries into the exponent where the mantissa is larger.
  constexpr std::uint64_t one = 0x3ff0000000000000, half_root = 0x3fe6a09e667f3bcd;
  const std::uint64_t shifted = bits + (one - half_root);
  const double exponent = static_cast<double>(static_cast<std::int64_t>(shifted >> 52) - 1023);
  const double t = std::bit_cast<double>((shifted & 0x000fffffffffffff) + half_root) - 1;
  const double v = t / (2 + t);
  const double y = v * v;
  const double log_mantissa = 2 * v + 2 * v * y * artanh_tail<terms>(y);
  return exponent * log2_high + (exponent * log2_low + log_mantissa);
}

// log(1 + t) - t for t > -1, with a relative error below 2^-48.
inline double log1p_minus(double t) {
  const double size = t < 0 ? -t : t;
  if (size < 0x1p-10) {
    const double square = t * t;
    return -square * ((0.5 - t * (1.0 / 3)) + square * ((0.25 - t * 0.2) + square * (1.0 / 6)));
  }
  if (size < 0x1p-4) return log1p_minus_series<5>(t);
  if (size < 0.29) return log1p_minus_series<10>(t);
  return log_of(1 + t) - t;
}

inline constexpr auto inverse_factorials = [] {
  std::array<double, 14> inverse{1};
  double factorial = 1;
  for (std::size_t j = 1; j < inverse.size(); ++j) inverse[j] = 1 / (factorial *= double(j));
  return inverse;
}();

// exp(x) for -700 < x < 700; relative error below 2^-50.
constexpr double exp_of(double x) {
  const double scaled = x * 1.4426950408889634;
  const auto exponent = static_cast<std::int64_t>(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
  const auto power = static_cast<double>(exponent);
  const double rest = (x - power * log2_high) - power * log2_low;
  const double square = rest * rest;
  double sums[2] = {0, 0};
#pragma GCC unroll 14
  for (std::size_t j = inverse_factorials.size(); j-- > 0;) {
    sums[j % 2] = sums[j % 2] * square + inverse_factorials[j];
  }
  return (sums[0] + rest * sums[1]) *
         std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

// -1 / log(1 - p) for 0 < p <= 1/4, given p and 1 / p; relative error below 2^-50 beyond that of
// the arguments. For small p by its own series, whose coefficients are Gregory's; otherwise
// log(1 - p) is -2 artanh(p / (2 - p)).
inline double decay_time(double p, double inverse) {
  if (p < 0x1p-10) {
    return inverse - (0.5 + p * (1.0 / 12 + p * (1.0 / 24 + p * (19.0 / 720))));
  }
  const double z = p / (2 - p);
  const double square = z * z;
  return 0.5 / (z + z * square * artanh_tail<9>(square));
}

// The correction to Stirling's formula: log(x!) - (x + 1/2) log(x) + x - log(2 pi) / 2, for x >= 16
// with an error below 2^-52.
constexpr double stirling_series(double x) {
  const double r = 1 / x;
  const double y = r * r;
  double sum = 1.0 / 1188;
  sum = 1.0 / 1680 - sum * y;
  sum = 1.0 / 1260 - sum * y;
  sum = 1.0 / 360 - sum * y;
  return r * (1.0 / 12 - sum * y);
}

inline constexpr std::array<double, 16> stirling_table{
    0,
    0.08106146679532726,
    0.0413406959554093,
    0.02767792568499834,
    0.020790672103765093,
    0.016644691189821193,
    0.013876128823070748,
    0.01189670994589177,
    0.010411265261972096,
    0.009255462182712733,
    0.00833056343336287,
    0.007573675487951841,
    0.00694284010720953,
    0.006408994188004207,
    0.0059513701127588475,
    0.005554733551962801,
};

// The same for any integer x >= 1 given as a double.
inline double stirling(double x) {
  if (x < 16) return stirling_table[static_cast<std::size_t>(x)];
  return stirling_series(x);
}

}  // namespace conclave::detail
