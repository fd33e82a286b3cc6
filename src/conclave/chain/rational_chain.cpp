#include "conclave/chain/rational_chain.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/chain/detail/text_input.hpp"

namespace conclave::chain {
namespace {

// Larger ones would make numbers of many bytes out of a few characters.
constexpr int most_exponent = 1000;

[[noreturn]] void reject(std::string_view text) {
  throw Error(
      fmt::format("'{}' is not a number such as 0.125, 1e-3 or 1/3", detail::excerpt(text)));
}

bool are_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

mpz_class whole(std::string_view digits, std::string_view text) {
  if (!are_digits(digits)) reject(text);
  return mpz_class(std::string(digits), 10);
}

// The e of 12.5e-3, 0 if there is none; takes it off `digits`.
int take_exponent(std::string_view& digits, std::string_view text) {
  const std::size_t place = digits.find_first_of("eE");
  if (place == std::string_view::npos) return 0;
  std::string_view power = digits.substr(place + 1);
  digits = digits.substr(0, place);
  if (power.starts_with('+')) power.remove_prefix(1);
  int exponent = 0;
  const auto [end, error] = std::from_chars(power.data(), power.data() + power.size(), exponent);
  if (error != std::errc() || end != power.data() + power.size()) reject(text);
  if (std::abs(exponent) > most_exponent) reject(text);
  return exponent;
}

Rational parse_decimal(std::string_view text) {
  std::string_view digits = text;
  int exponent = take_exponent(digits, text);
  std::string all(digits);
  if (const std::size_t point = digits.find('.'); point != std::string_view::npos) {
    all.erase(point, 1);
    exponent -= static_cast<int>(digits.size() - point - 1);
  }
  mpz_class power;
  mpz_ui_pow_ui(power.get_mpz_t(), 10, static_cast<unsigned long>(std::abs(exponent)));
  const mpz_class numerator = whole(all, text);
  Rational value = exponent < 0 ? Rational(numerator, power) : Rational(numerator * power);
  value.canonicalize();
  return value;
}

}  // namespace

void RationalChain::end_row() {
  auto& row = rows_.back();
  std::ranges::stable_sort(row, {}, &Transition::to);
  std::size_t end = 0;
  for (std::size_t k = 0; k < row.size(); ++k) {
    if (end > 0 && row[end - 1].to == row[k].to) {
      row[end - 1].probability += row[k].probability;
    } else {
      std::swap(row[end++], row[k]);
    }
  }
  row.resize(end);
  rows_.emplace_back();
}

MarkovChain RationalChain::rounded() const {
  ChainBuilder builder;
  for (StateIndex state = 0; state < size(); ++state) {
    for (const Transition& transition : row(state)) {
      builder.add(transition.to, transition.probability.get_d());
    }
    builder.end_row();
  }
  return std::move(builder).build();
}

Rational parse_rational(std::string_view text) {
  const std::size_t bar = text.find('/');
  if (bar == std::string_view::npos) return parse_decimal(text);
  const mpz_class denominator = whole(text.substr(bar + 1), text);
  if (denominator == 0) reject(text);
  Rational value(whole(text.substr(0, bar), text), denominator);
  value.canonicalize();
  return value;
}

}  // namespace conclave::chain
