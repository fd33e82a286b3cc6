#include "conclave/base/numbers.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>
#include <system_error>

namespace conclave {
namespace {

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

std::optional<Fraction> reduced(Interactions above, Interactions below) {
  if (below == 0u) return std::nullopt;
  Interactions divisor = above;
  for (Interactions rest = below; rest != 0u;) {
    const Interactions next = divisor % rest;
    divisor = rest;
    rest = next;
  }
  const auto denominator = (below / divisor).as_uint64();
  if (!denominator || *denominator >> 63 != 0) return std::nullopt;
  return Fraction{above / divisor, *denominator};
}

}  // namespace

std::optional<Interactions> parse_count(std::string_view text) {
  const auto mark = text.find_first_of("e^");
  if (mark == text.npos) return parse_digits(text);
  const auto before = text.substr(0, mark);
  const auto after = text.substr(mark + 1);
  return text[mark] == '^' ? parse_power(before, after) : parse_scientific(before, after);
}

std::optional<Fraction> parse_fraction(std::string_view text) {
  const auto slash = text.find('/');
  if (slash != text.npos) {
    const auto above = parse_count(text.substr(0, slash));
    const auto below = parse_count(text.substr(slash + 1));
    return above && below ? reduced(*above, *below) : std::nullopt;
  }
  if (const auto whole = parse_count(text)) return Fraction{*whole, 1};
  const auto mark = text.find('e');
  const std::string_view mantissa = text.substr(0, mark);
  const std::string_view exponent = mark == text.npos ? "-0" : text.substr(mark + 1);
  const bool is_negative = exponent.starts_with('-');
  const auto power = parse_digits(exponent.substr(is_negative ? 1 : 0));
  const auto point = mantissa.find('.');
  const auto fraction =
      point == mantissa.npos ? "" : significant_fraction(mantissa.substr(point + 1));
  if (!power || !fraction || point == 0) return std::nullopt;
  const auto digits = parse_digits(std::string(mantissa.substr(0, point)).append(*fraction));
  if (!digits) return std::nullopt;
  if (!is_negative && *power > fraction->size())
    return std::nullopt;  // whole numbers were read above
  const Interactions places = is_negative ? *power + fraction->size() : fraction->size() - *power;
  const auto below = times_power(1u, 10u, places);
  return below ? reduced(*digits, *below) : std::nullopt;
}

namespace {

// The double nearest to a decimal number; nothing for any other text.
std::optional<double> correctly_rounded(std::string_view text) {
  double value = 0;
#ifdef __wasm__  // whose library has from_chars for integers only; its strtod rounds correctly, too
  const auto is_sign_or_digit = [](char c) {
    return c == '-' || c == '.' || (c >= '0' && c <= '9');
  };
  if (text.empty() || !is_sign_or_digit(text.front()) || text.find_first_of("xX") != text.npos) {
    return std::nullopt;
  }
  const std::string copy(text);
  char* stopped = nullptr;
  value = std::strtod(copy.c_str(), &stopped);
  if (stopped != copy.c_str() + copy.size()) return std::nullopt;
#else
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stopped != end) return std::nullopt;
#endif
  return value;
}

}  // namespace

std::optional<double> parse_real(std::string_view text) {
  if (text.find('^') != text.npos) {
    const auto power = parse_count(text);
    return power ? std::optional(power->as_double()) : std::nullopt;
  }
  const auto value = correctly_rounded(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

}  // namespace conclave
