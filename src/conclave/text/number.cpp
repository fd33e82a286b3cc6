#include "conclave/text/number.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace conclave::text {
namespace {

using Whole = Number::Whole;
__extension__ using Wide = unsigned __int128;

[[noreturn]] void too_large() { throw NumberError("a number needs more than 127 bits"); }

Whole times(Whole a, Whole b) {
  Whole result = 0;
  if (__builtin_mul_overflow(a, b, &result)) too_large();
  return result;
}

Whole plus(Whole a, Whole b) {
  Whole result = 0;
  if (__builtin_add_overflow(a, b, &result)) too_large();
  return result;
}

Whole common_divisor(Whole a, Whole b) {
  if (a < 0) a = -a;
  while (b != 0) a = std::exchange(b, a % b);
  return a;
}

Whole floor_division(Whole a, Whole b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

Whole whole_from(double value) {
  if (!(std::abs(value) < 1e38)) throw NumberError("a number is not finite");
  return static_cast<Whole>(value);
}

}  // namespace

Number Number::fraction(Whole numerator, Whole denominator) {
  if (denominator == 0) throw NumberError("division by zero");
  if (numerator == std::numeric_limits<Whole>::min()) too_large();
  if (denominator == std::numeric_limits<Whole>::min()) too_large();
  const Whole divisor = common_divisor(numerator, denominator < 0 ? -denominator : denominator);
  Number result;
  result.numerator_ = (denominator < 0 ? -numerator : numerator) / divisor;
  result.denominator_ = (denominator < 0 ? -denominator : denominator) / divisor;
  return result;
}

Number Number::real(double value) {
  if (!std::isfinite(value)) throw NumberError("a number is not finite");
  Number result;
  result.numerator_ = std::bit_cast<std::int64_t>(value);
  result.denominator_ = 0;
  return result;
}

double Number::as_double() const {
  if (is_real()) return std::bit_cast<double>(static_cast<std::int64_t>(numerator_));
  return static_cast<double>(numerator_) / static_cast<double>(denominator_);
}

std::optional<std::int64_t> Number::small() const {
  if (!is_whole() || numerator_ > std::numeric_limits<std::int64_t>::max() ||
      numerator_ < std::numeric_limits<std::int64_t>::min()) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(numerator_);
}

Number operator+(const Number& a, const Number& b) {
  if (a.is_whole() && b.is_whole()) return Number::from_whole(plus(a.numerator_, b.numerator_));
  if (a.is_real() || b.is_real()) return Number::real(a.as_double() + b.as_double());
  // Divided by what they have in common first, so that little more than the result has to fit.
  const Whole common = common_divisor(a.denominator_, b.denominator_);
  return Number::fraction(plus(times(a.numerator_, b.denominator_ / common),
                               times(b.numerator_, a.denominator_ / common)),
                          times(a.denominator_, b.denominator_ / common));
}

Number operator-(const Number& a, const Number& b) { return a + b * Number(-1); }

Number operator*(const Number& a, const Number& b) {
  if (a.is_whole() && b.is_whole()) return Number::from_whole(times(a.numerator_, b.numerator_));
  if (a.is_real() || b.is_real()) return Number::real(a.as_double() * b.as_double());
  const Whole first = common_divisor(a.numerator_, b.denominator_);
  const Whole second = common_divisor(b.numerator_, a.denominator_);
  return Number::fraction(times(a.numerator_ / first, b.numerator_ / second),
                          times(a.denominator_ / second, b.denominator_ / first));
}

Number operator/(const Number& a, const Number& b) {
  if (compare(b, 0) == 0) throw NumberError("division by zero");
  if (a.is_real() || b.is_real()) return Number::real(a.as_double() / b.as_double());
  return a * Number::fraction(b.denominator_, b.numerator_);
}

Number modulo(const Number& a, const Number& b) {
  if (a.is_whole() && b.is_whole() && b.numerator_ != 0) {
    const Whole rest = a.numerator_ % b.numerator_;
    const bool other_sign = rest != 0 && (rest < 0) != (b.numerator_ < 0);
    return Number::from_whole(other_sign ? rest + b.numerator_ : rest);
  }
  if (compare(b, 0) == 0) throw NumberError("division by zero");
  return a - b * floor(a / b);
}

Number power(const Number& base, const Number& exponent) {
  const auto times_left = exponent.small();
  if (!times_left || *times_left < 0 || *times_left > 1000) {
    throw NumberError("an exponent is a whole number from 0 to 1000");
  }
  Number result(1);
  for (std::int64_t i = 0; i < *times_left; ++i) result = result * base;
  return result;
}

int compare(const Number& a, const Number& b) {
  const auto sign = [](auto x, auto y) { return x < y ? -1 : (y < x ? 1 : 0); };
  if (a.is_whole() && b.is_whole()) return sign(a.numerator_, b.numerator_);
  if (a.is_real() || b.is_real()) return sign(a.as_double(), b.as_double());
  const Whole common = common_divisor(a.denominator_, b.denominator_);
  return sign(times(a.numerator_, b.denominator_ / common),
              times(b.numerator_, a.denominator_ / common));
}

Number floor(const Number& number) {
  if (number.is_real()) return Number::from_whole(whole_from(std::floor(number.as_double())));
  return Number::from_whole(floor_division(number.numerator(), number.denominator()));
}

Number ceiling(const Number& number) { return Number(0) - floor(Number(0) - number); }

Number nearest_whole(const Number& number) { return floor(number + Number::fraction(1, 2)); }

Number square_root(const Number& number) {
  if (compare(number, 0) < 0) throw NumberError("the square root of a negative number");
  if (const auto whole = number.whole()) {
    auto root = static_cast<Whole>(std::sqrt(static_cast<double>(*whole)));
    while (root * root > *whole) --root;
    while ((root + 1) * (root + 1) <= *whole) ++root;
    if (root * root == *whole) return Number::from_whole(root);
    // Between two whole numbers, also where a double could not tell.
    const double real = std::sqrt(static_cast<double>(*whole));
    if (real <= static_cast<double>(root) || real >= static_cast<double>(root + 1)) {
      return Number::fraction(2 * root + 1, 2);
    }
    return Number::real(real);
  }
  return Number::real(std::sqrt(number.as_double()));
}

// Bit by bit with 63-bit integers, because the logarithms of libraries differ in their last digits.
Number binary_logarithm(const Number& number) {
  if (compare(number, 0) <= 0) throw NumberError("the logarithm of a number that is not positive");
  int exponent = 0;
  const double mantissa = std::frexp(number.as_double(), &exponent);  // in [1/2, 1)
  auto bits = static_cast<std::uint64_t>(std::ldexp(mantissa, 63));   // in [2^62, 2^63)
  if (bits == std::uint64_t{1} << 62) return Number(exponent - 1);
  double fraction = 0;
  for (double weight = 0.5; weight > 1e-16; weight /= 2) {
    const Wide square = static_cast<Wide>(bits) * bits >> 62;
    const bool carries = square >= Wide{1} << 63;
    bits = static_cast<std::uint64_t>(carries ? square >> 1 : square);
    if (carries) fraction += weight;
  }
  return Number::real(exponent - 1 + fraction);
}

Number natural_logarithm(const Number& number) {
  if (compare(number, 1) == 0) return Number(0);
  return binary_logarithm(number) * Number::real(0.69314718055994530942);
}

std::string to_string(const Number& number) {
  if (number.is_real()) return fmt::format("{}", number.as_double());
  if (number.is_whole()) return fmt::format("{}", number.numerator());
  return fmt::format("{}/{}", number.numerator(), number.denominator());
}

}  // namespace conclave::text
