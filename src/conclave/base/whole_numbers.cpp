#include "conclave/base/whole_numbers.hpp"

#include <array>
#include <bit>
#include <compare>
#include <cstddef>

#include "conclave/base/check.hpp"

namespace conclave {
namespace {

__extension__ using Wide = unsigned __int128;

// log2(n) as a fixed-point number with 64 digits behind the point. Each squaring of the mantissa
// doubles its logarithm, and so brings forth one digit; what a squaring loses by rounding counts
// the less the later it comes.
Wide fixed_point_logarithm(std::uint64_t n) {
  CONCLAVE_CHECK(n > 0);
  const int exponent = static_cast<int>(std::bit_width(n)) - 1;
  std::uint64_t mantissa = n << (63 - exponent);  // in [2^63, 2^64) for [1, 2)
  if (std::has_single_bit(n)) return static_cast<Wide>(exponent) << 64;
  std::uint64_t digits = 0;
  for (int digit = 63; digit >= 0; --digit) {
    const Wide square = static_cast<Wide>(mantissa) * mantissa;  // in [2^126, 2^128)
    const bool is_two_or_more = square >> 127 != 0;
    mantissa = static_cast<std::uint64_t>(square >> (is_two_or_more ? 64 : 63));
    if (is_two_or_more) digits |= std::uint64_t{1} << digit;
  }
  return static_cast<Wide>(exponent) << 64 | digits;
}

double from_fixed_point(Wide value) { return static_cast<double>(value) * 0x1p-64; }

// A number of up to nine words, the lowest first.
class Large {
 public:
  explicit Large(std::uint64_t value) { words_[0] = value; }

  static Large power(std::uint64_t base, unsigned exponent) {
    Large result(1);
    for (unsigned i = 0; i < exponent; ++i) result.multiply(base);
    return result;
  }

  friend std::strong_ordering operator<=>(const Large& a, const Large& b) {
    for (std::size_t i = a.words_.size(); i-- > 0;) {
      if (a.words_[i] != b.words_[i]) return a.words_[i] <=> b.words_[i];
    }
    return std::strong_ordering::equal;
  }

 private:
  void multiply(std::uint64_t factor) {
    std::uint64_t carry = 0;
    for (std::uint64_t& word : words_) {
      const Wide product = static_cast<Wide>(word) * factor + carry;
      word = static_cast<std::uint64_t>(product);
      carry = static_cast<std::uint64_t>(product >> 64);
    }
    CONCLAVE_CHECK(carry == 0);
  }

  std::array<std::uint64_t, 9> words_{};
};

}  // namespace

double binary_logarithm(std::uint64_t n) { return from_fixed_point(fixed_point_logarithm(n)); }

double natural_logarithm(std::uint64_t n) {
  constexpr std::uint64_t log_of_two = 0xb17217f7d1cf79ac;  // ln 2 with 64 digits behind the point
  const Wide binary = fixed_point_logarithm(n);
  const Wide of_exponent = (binary >> 64) * log_of_two;
  const Wide of_mantissa = static_cast<Wide>(static_cast<std::uint64_t>(binary)) * log_of_two >> 64;
  return from_fixed_point(of_exponent + of_mantissa);
}

std::uint64_t rounded_up_power(std::uint64_t n, unsigned p, unsigned q) {
  CONCLAVE_CHECK(p <= q && q > 0 && q <= 9);
  const Large wanted = Large::power(n, p);
  std::uint64_t low = 0;
  std::uint64_t high = n > 0 ? n : 1;  // n^(p/q) <= n for n > 0
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (Large::power(middle, q) < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace conclave
