#include "conclave/sweep/measure.hpp"

#include <string_view>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/sweep/export.hpp"
#include "conclave/text/arithmetic.hpp"
#include "conclave/text/mistake.hpp"

namespace conclave::sweep {
namespace {

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

// Nothing if the expression has no value.
std::optional<double> value_of(const std::string& expression,
                               const text::Constants& constants) try {
  return text::evaluate(expression, constants).as_double();
} catch (const text::NoValue&) {
  return std::nullopt;
} catch (const text::NumberError&) {
  return std::nullopt;
}

}  // namespace

RowMeasure::RowMeasure(const std::string& text, const Results& results) try {
  const std::optional<std::string> field = named_field(text, results);
  name_ = field.value_or(text);
  if (field) return;
  text::Constants any;
  for (const std::string& name : text::names_in(text)) {
    terms_.push_back({.word = name, .field = field_name(results, name)});
    any.emplace(name, 1);
  }
  if (terms_.empty()) throw Error(fmt::format("--measure '{}' names no field of the rows", text));
  value_of(text, any);  // it can be read, whatever the rows are
} catch (const text::Mistake& mistake) {
  throw Error(fmt::format("--measure '{}': {}", text, mistake.what()));
}

std::optional<double> RowMeasure::operator()(const Fields& row) const {
  if (terms_.empty()) return number_field(row, name_);
  text::Constants constants;
  for (const Term& term : terms_) {
    const auto value = number_field(row, term.field);
    if (!value) return std::nullopt;
    constants.emplace(term.word, text::Number::real(*value));
  }
  return value_of(name_, constants);
}

}  // namespace conclave::sweep
