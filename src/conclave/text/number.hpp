// The numbers of protocol files: exact fractions of 128-bit integers, and the real numbers that
// roots and logarithms give, which are doubles. Everything is the same on every machine. Operations
// on exact numbers are exact or throw NumberError; an operation with a real gives a real.
#pragma once

#include <bit>
#include <compare>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

namespace conclave::text {

// Thrown where there is no value: a division by zero, a number beyond 127 bits.
class NumberError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Number {
 public:
  __extension__ using Whole = __int128;

  constexpr Number() = default;
  constexpr Number(std::int64_t value) : numerator_(value) {}
  // Exact.
  static constexpr Number from_whole(Whole value) {
    Number result;
    result.numerator_ = value;
    return result;
  }
  // In lowest terms. Throws NumberError for a denominator of 0, and where it does not fit.
  static Number fraction(Whole numerator, Whole denominator);
  // Throws NumberError for infinity and NaN.
  static Number real(double value);

  bool is_real() const { return denominator_ == 0; }
  bool is_whole() const { return denominator_ == 1; }
  // Exact for reals and for whole numbers below 2^53, otherwise rounded.
  double as_double() const;

  // The value of a whole number, or nothing for any other.
  std::optional<Whole> whole() const {
    if (!is_whole()) return std::nullopt;
    return numerator_;
  }
  // A whole number of 64 bits, or nothing.
  std::optional<std::int64_t> small() const;

  Whole numerator() const { return numerator_; }
  Whole denominator() const { return denominator_; }

  // All of these throw NumberError where the result needs more than 127 bits or is not finite, and
  // where something is divided by zero.
  friend Number operator+(const Number& a, const Number& b);
  friend Number operator-(const Number& a, const Number& b);
  friend Number operator*(const Number& a, const Number& b);
  friend Number operator/(const Number& a, const Number& b);
  // a - b floor(a / b): never negative for b > 0.
  friend Number modulo(const Number& a, const Number& b);
  // For whole exponents from 0 to 1000.
  friend Number power(const Number& base, const Number& exponent);
  friend int compare(const Number& a, const Number& b);                // negative, 0 or positive
  friend bool operator==(const Number& a, const Number& b) = default;  // the same representation

 private:
  Whole numerator_ = 0;  // of a real: its bits
  Whole denominator_ = 1;
};

// The functions declared above. `floor` and `ceiling` give whole numbers, and throw NumberError
// where these need more than 127 bits.
Number modulo(const Number& a, const Number& b);
Number power(const Number& base, const Number& exponent);
int compare(const Number& a, const Number& b);
Number floor(const Number& number);
Number ceiling(const Number& number);
Number nearest_whole(const Number& number);  // halves go up
// Exact roots and logarithms stay exact; others are reals, with the same bits on every machine.
// Throw NumberError for arguments that have none.
Number square_root(const Number& number);
Number binary_logarithm(const Number& number);
Number natural_logarithm(const Number& number);

// "7", "-1/3", or the shortest decimal that gives a real back.
std::string to_string(const Number& number);

}  // namespace conclave::text
