#include "conclave/base/numbers.hpp"

#include <charconv>
#include <cmath>
#include <string>
#include <system_error>

namespace conclave {
namespace {

constexpr bool is_digit(char c) { return '0' <= c && c <= '9'; }

std::optional<Interactions> parse_digits(std::string_view text) {
  if (text.empty()) return std::nullopt;
  Interactions value;
  for (const char c : text) {
    if (!is_digit(c)) return std::nullopt;
    const Interactions digit = static_cast<unsigned>(c - '0');
    if (value > (Interactions::max() - digit) / 10u) return std::nullopt;
    value = value * 10u + digit;
  }
  return value;
}

// factor * base^exponent. At most 128 rounds, because a base above 1 leaves 128 bits by then.
std::optional<Interactions> times_power(Interactions factor, Interactions base,
                                        Interactions exponent) {
  if (exponent == 0u || factor == 0u || base == 1u) return factor;
  if (base == 0u) return Interactions{};
  for (Interactions i; i < exponent; ++i) {
    if (factor > Interactions::max() / base) return std::nullopt;
    factor *= base;
  }
  return factor;
}

std::optional<Interactions> parse_power(std::string_view base_text,
                                        std::string_view exponent_text) {
  const auto base = parse_digits(base_text);
  const auto exponent = parse_digits(exponent_text);
  if (!base || !exponent) return std::nullopt;
  return times_power(1u, *base, *exponent);
}

// The digits after the point that count: all but the trailing zeros. Nothing unless all are digits.
std::optional<std::string_view> significant_fraction(std::string_view fraction) {
  if (fraction.empty() || fraction.find_first_not_of("0123456789") != fraction.npos) {
    return std::nullopt;
  }
  return fraction.substr(0, fraction.find_last_not_of('0') + 1);
}

// whole.fraction * 10^exponent is (whole and fraction read as one integer) * 10^(exponent - length
// of the fraction), and no integer when that power is negative, as the last digit is not 0.
std::optional<Interactions> scale(std::string_view whole, std::string_view fraction,
                                  Interactions exponent) {
  if (whole.empty() || exponent < fraction.size()) return std::nullopt;
  const auto digits = parse_digits(std::string(whole).append(fraction));
  if (!digits) return std::nullopt;
  return times_power(*digits, 10u, exponent - fraction.size());
}

std::optional<Interactions> parse_scientific(std::string_view mantissa,
                                             std::string_view exponent_text) {
  const auto exponent = parse_digits(exponent_text);
  if (!exponent) return std::nullopt;
  const auto point = mantissa.find('.');
  if (point == mantissa.npos) return scale(mantissa, {}, *exponent);
  const auto fraction = significant_fraction(mantissa.substr(point + 1));
  if (!fraction) return std::nullopt;
  return scale(mantissa.substr(0, point), *fraction, *exponent);
}

}  // namespace

std::optional<Interactions> parse_count(std::string_view text) {
  const auto mark = text.find_first_of("e^");
  if (mark == text.npos) return parse_digits(text);
  const auto before = text.substr(0, mark);
  const auto after = text.substr(mark + 1);
  return text[mark] == '^' ? parse_power(before, after) : parse_scientific(before, after);
}

std::optional<double> parse_real(std::string_view text) {
  if (text.find('^') != text.npos) {
    const auto power = parse_count(text);
    return power ? std::optional(power->as_double()) : std::nullopt;
  }
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stopped != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace conclave
