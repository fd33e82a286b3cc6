#include "conclave/sweep/plan_values.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/numbers.hpp"
#include "conclave/base/printable.hpp"
#include "conclave/sweep/plan.hpp"
#include "conclave/text/mistake.hpp"

namespace conclave::sweep {
namespace {

using text::Number;

constexpr std::size_t most_in_a_range = 10'000;

std::uint32_t line_of(const toml::node& node) { return node.source().begin.line; }

// 1e16 is a float in TOML and a whole number here, exactly that of its shortest decimal; 1e-3 stays
// what it is.
std::string float_text(double value) {
  std::string text = fmt::format("{}", value);
  std::erase(text, '+');
  const auto count = parse_count(text);
  return count ? to_string(*count) : text;
}

// Exact: what TOML has read as a double is taken at its shortest decimal.
Number number_of(const Value& value) {
  try {
    return text::evaluate(value.text, {});
  } catch (const std::runtime_error& error) {
    throw ValueError(value.line, fmt::format("'{}': {}", excerpt(value.text), error.what()));
  }
}

std::string text_of(const Number& number) {
  return number.is_whole() ? to_string(number) : fmt::format("{}", number.as_double());
}

// { from = 10, to = 1000, factor = 10 } or { from = 1, to = 9, step = 2 }.
class Range {
 public:
  explicit Range(const toml::table& table) : line_(line_of(table)) {
    for (const auto& [key, node] : table) {
      constexpr std::array<std::string_view, 4> names{"from", "to", "step", "factor"};
      if (std::ranges::find(names, key.str()) == names.end()) {
        throw ValueError(key.source().begin.line, unknown_name("key of a range", key.str(), names));
      }
    }
    const bool has_factor = table.contains("factor");
    if (!table.contains("from") || !table.contains("to") || has_factor == table.contains("step")) {
      throw ValueError(line_, "a range is written { from = 10, to = 1000, factor = 10 } or "
                              "{ from = 1, to = 9, step = 2 }");
    }
    from_ = number_of(single(*table.get("from")));
    to_ = number_of(single(*table.get("to")));
    advance_ = number_of(single(*table.get(has_factor ? "factor" : "step")));
    is_geometric_ = has_factor;
    if (compare(advance_, is_geometric_ ? 1 : 0) <= 0) {
      throw ValueError(line_, is_geometric_ ? "the factor of a range is above 1"
                                            : "the step of a range is positive");
    }
    if (is_geometric_ && compare(from_, 0) <= 0) {
      throw ValueError(line_, "a range with a factor begins above 0");
    }
  }

  std::vector<Value> values() const try {
    std::vector<Value> result = is_geometric_ ? geometric() : arithmetic();
    if (result.empty()) throw ValueError(line_, "this range is empty: from is above to");
    return result;
  } catch (const text::NumberError& error) {
    throw ValueError(line_, fmt::format("this range: {}", error.what()));
  }

 private:
  // Each value once.
  void add(std::vector<Value>& result, const std::string& text) const {
    if (result.empty() || result.back().text != text) result.push_back({text, line_});
    if (result.size() > most_in_a_range)
      throw ValueError(line_, "this range has more than 10 000 values");
  }

  std::vector<Value> arithmetic() const {
    std::vector<Value> result;
    for (Number exact = from_; compare(exact, to_) <= 0; exact = exact + advance_) {
      add(result, text_of(exact));
    }
    return result;
  }

  // Whole numbers, rounded down. Exact as long as the powers of the factor are fractions of 127
  // bits. From there on, and where the factor is a root, they are doubles: then a value that is a
  // whole number or the end of the range but for rounding is taken for it, so that two steps of
  // sqrt(10) from 100 arrive at 1000 and not at 999.
  std::vector<Value> geometric() const {
    std::vector<Value> result;
    Number value = from_;
    bool is_added = false;  // the value
    try {
      while (!value.is_real() && compare(value, to_) <= 0) {
        add(result, text_of(floor(value)));
        is_added = true;
        value = value * advance_;
        is_added = false;
      }
      if (!value.is_real()) return result;
    } catch (const text::NumberError&) {
      value = Number::real(value.as_double() * (is_added ? advance_.as_double() : 1));
    }
    constexpr double slack = 1e-11;  // above the rounding of 10 000 products
    std::size_t steps = 0;
    for (double real = value.as_double(); real <= to_.as_double() * (1 + slack);
         real *= advance_.as_double()) {
      if (++steps > most_in_a_range)
        throw ValueError(line_, "this range has more than 10 000 values");
      const double nearest = std::floor(real + 0.5);
      const double whole = std::abs(real - nearest) <= slack * real ? nearest : std::floor(real);
      add(result, float_text(std::min(whole, to_.as_double())));
    }
    return result;
  }

  std::uint32_t line_;
  Number from_, to_, advance_;
  bool is_geometric_ = false;
};

// A word such as `printed` or `all-leaders`, which is no expression.
bool is_word(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
  });
}

}  // namespace

Value single(const toml::node& node) {
  const std::uint32_t line = line_of(node);
  if (const auto* text = node.as_string()) {
    if (text->get().empty()) throw ValueError(line, "an empty string is no value");
    return {text->get(), line};
  }
  if (const auto* number = node.as_integer()) return {fmt::format("{}", number->get()), line};
  if (const auto* number = node.as_floating_point()) return {float_text(number->get()), line};
  if (const auto* flag = node.as_boolean()) return {flag->get() ? "true" : "false", line};
  throw ValueError(line, "one number or one string is expected here");
}

std::vector<Value> alternatives(const toml::node& node) {
  if (const auto* table = node.as_table()) return Range(*table).values();
  const auto* list = node.as_array();
  if (list == nullptr) return {single(node)};
  std::vector<Value> all;
  for (const toml::node& each : *list) {
    for (Value& value : alternatives(each)) all.push_back(std::move(value));
  }
  if (all.empty()) throw ValueError(line_of(node), "this list is empty");
  return all;
}

std::vector<std::vector<Value>> list_alternatives(const toml::node& node) {
  const auto* list = node.as_array();
  if (list == nullptr) return {{single(node)}};
  const bool has_lists =
      std::ranges::any_of(*list, [](const auto& each) { return each.is_array(); });
  if (!has_lists) return {list->empty() ? std::vector<Value>{} : alternatives(node)};
  std::vector<std::vector<Value>> all;
  for (const toml::node& each : *list) all.push_back(list_alternatives(each).front());
  return all;
}

std::string evaluated(const Value& value, const text::Constants& constants, Rounding rounding) {
  const std::string& text = value.text;
  if (parse_count(text) || parse_real(text)) return text;
  if (is_word(text) && !constants.contains(text)) return text;
  try {
    const Number number = text::evaluate(text, constants);
    if (rounding == Rounding::fraction && !number.is_real()) return to_string(number);
    return text_of(rounding == Rounding::down ? floor(number) : number);
  } catch (const text::Mistake& mistake) {
    throw ValueError(value.line, fmt::format("'{}': {}", excerpt(text), mistake.what()));
  } catch (const text::NumberError& error) {
    throw ValueError(value.line, fmt::format("'{}': {}", excerpt(text), error.what()));
  }
}

std::vector<WrittenParams> written_params(const std::string& plan) try {
  const toml::table root = parse_toml(plan, "");
  std::vector<WrittenParams> result;
  const auto add = [&](const toml::table& run) {
    WrittenParams& written = result.emplace_back();
    const toml::node* const own = run.get("params");
    const toml::node* const params = own != nullptr ? own : root.get("params");
    if (params == nullptr || params->as_table() == nullptr) return;
    for (const auto& [name, node] : *params->as_table()) {
      for (const Value& value : alternatives(node)) {
        if (!parse_real(value.text) && !parse_count(value.text) && !is_word(value.text)) {
          written.emplace_back(std::string(name.str()), value.text);
        }
      }
    }
  };
  const toml::node* const runs = root.get("run");
  if (runs == nullptr || runs->as_array() == nullptr) {
    add(root);
  } else {
    for (const toml::node& each : *runs->as_array()) add(*each.as_table());
  }
  return result;
} catch (const std::exception&) {
  return {};
}

bool has_value(const std::string& expression, const std::string& value, const std::string& n,
               const std::vector<std::string>& params) try {
  text::Constants known{{"n", text::evaluate(n, {})}};
  for (const std::string& each : params) {
    const std::size_t equals = each.find('=');
    const std::string given = each.substr(equals + 1);
    if (parse_real(given)) known[each.substr(0, equals)] = text::evaluate(given, {});
  }
  const Number wanted = text::evaluate(value, {});
  const Number found = text::evaluate(expression, known);
  return found.as_double() == wanted.as_double() || compare(floor(found), wanted) == 0;
} catch (const std::exception&) {
  return false;
}

}  // namespace conclave::sweep
