#include "conclave/sweep/measure.hpp"

#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/name_letters.hpp"
#include "conclave/sweep/export.hpp"
#include "conclave/text/arithmetic.hpp"

namespace conclave::sweep {
namespace {

// The names in an expression; not functions, which a parenthesis follows, nor the e of 1e6.
std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins = is_letter(text[i]) && (i == 0 || !is_digit(text[i - 1]));
    std::size_t end = i;
    while (end < text.size() && (is_letter(text[end]) || is_digit(text[end]))) ++end;
    if (end == i) continue;
    const bool is_call = end < text.size() && text[end] == '(';
    if (begins && !is_call) words.emplace_back(text.substr(i, end - i));
    i = end - 1;
  }
  return words;
}

bool is_expression(std::string_view text) {
  return text.find_first_of("+-*/^() ") != std::string_view::npos;
}

// The field in full, if the text is the name of one, or can be nothing else.
std::optional<std::string> named_field(const std::string& text, const Results& results) try {
  return field_name(results, text);
} catch (const Error&) {
  if (!is_expression(text)) throw;
  return std::nullopt;
}

// Nothing where the expression has no value: a division by zero, the logarithm of a negative
// number.
std::optional<double> value_of(const std::string& expression, const text::Constants& constants,
                               std::string& mistake) try {
  return text::evaluate(expression, constants).as_double();
} catch (const std::runtime_error& error) {
  mistake = error.what();
  return std::nullopt;
}

// Whether it can be read is tried with numbers that rise from name to name, and that fall: one of
// the two suits differences.
std::string fault_of(const std::string& expression, const std::vector<std::string>& names) {
  text::Constants rising;
  text::Constants falling;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto step = static_cast<double>(i * i);
    rising.emplace(names[i], text::Number::real(1000 + step));
    falling.emplace(names[i], text::Number::real(1000 - step));
  }
  std::string mistake;
  const bool is_read =
      value_of(expression, rising, mistake) || value_of(expression, falling, mistake);
  return is_read ? "" : mistake;
}

}  // namespace

RowMeasure::RowMeasure(const std::string& text, const Results& results) {
  const std::optional<std::string> field = named_field(text, results);
  name_ = field.value_or(text);
  if (field) return;
  const std::vector<std::string> names = names_in(text);
  for (const std::string& name : names) {
    terms_.push_back({.word = name, .field = field_name(results, name)});
  }
  if (names.empty()) throw Error(fmt::format("--measure '{}' names no field of the rows", text));
  const std::string fault = fault_of(text, names);
  if (!fault.empty()) throw Error(fmt::format("--measure '{}': {}", text, fault));
}

std::optional<double> RowMeasure::operator()(const Fields& row) const {
  if (terms_.empty()) return number_field(row, name_);
  text::Constants constants;
  for (const Term& term : terms_) {
    const auto value = number_field(row, term.field);
    if (!value) return std::nullopt;
    constants.emplace(term.word, text::Number::real(*value));
  }
  std::string mistake;
  return value_of(name_, constants, mistake);
}

}  // namespace conclave::sweep
