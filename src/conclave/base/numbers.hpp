// Reading the numbers that users write: on the command line, in plans and in stored rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "conclave/base/interactions.hpp"

namespace conclave {

// Reads `1000000`, `1e6`, `1.5e6` or `2^20`, exactly and without floating point. Nothing for any
// other text, for a value that is no integer, and for one that needs more than 128 bits. As in an
// empty product, `0^0` is 1.
std::optional<Interactions> parse_count(std::string_view text);

// A number that is not negative, without rounding: 0.3 is three tenths. Reduced to lowest terms.
struct Fraction {
  Interactions numerator{};
  std::uint64_t denominator = 1;

  double as_double() const { return numerator.as_double() / static_cast<double>(denominator); }
  friend bool operator==(const Fraction&, const Fraction&) = default;
};

// Reads `50`, `0.3`, `2.5e3`, `1e-3`, `2^10` or `1/3`, exactly. Nothing for any other text, and for
// a value whose numerator in lowest terms needs more than 128 bits, or its denominator more
// than 63.
std::optional<Fraction> parse_fraction(std::string_view text);

// Reads a decimal number such as `-0.25` or `1e-3`, correctly rounded and whatever the locale, or a
// power of counts such as `2^20`. Nothing for any other text, for infinities and NaN, and for what
// lies outside the range of double.
std::optional<double> parse_real(std::string_view text);

// The characters that names of columns and fields are made of. Unlike those of <cctype>, these
// functions do not depend on the locale.

// An ASCII letter, or the underscore.
constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace conclave
