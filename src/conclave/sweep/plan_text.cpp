#include "conclave/sweep/plan_text.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/join_parts.hpp"
#include "conclave/base/json.hpp"
#include "conclave/base/printable.hpp"
#include "conclave/base/toml.hpp"
#include "conclave/experiment/option_values.hpp"
#include "conclave/experiment/run_options.hpp"
#include "conclave/sweep/plan_values.hpp"

namespace conclave::sweep {
namespace {

using experiment::RunText;

constexpr std::string_view usual_factor = "sqrt(10)";  // two sizes per power of ten

// Parts between commas that are in no parentheses: max(2, n),20 are two.
std::vector<std::string> parts_of(std::string_view list, std::string_view option) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : list) {
    depth += c == '(' || c == '{' ? 1 : c == ')' || c == '}' ? -1 : 0;
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  for (const std::string& part : parts) {
    if (!part.empty()) continue;
    throw Error(fmt::format("{} takes values with a comma between them; one is empty in '{}'",
                            option, excerpt(list)));
  }
  return parts;
}

// A size or a range of sizes as a value of TOML.
std::string size_value(const std::string& part) {
  constexpr std::string_view dots = "..";
  const std::size_t middle = part.find(dots);
  if (middle == std::string::npos) return json_string(part);
  const std::string from = part.substr(0, middle);
  std::string to = part.substr(middle + dots.size());
  std::string by(usual_factor);
  if (const std::size_t colon = to.find(':'); colon != std::string::npos) {
    by = to.substr(colon + 1);
    to.resize(colon);
  }
  const bool is_step = by.starts_with('+');
  if (is_step) by.erase(0, 1);
  if (from.empty() || to.empty() || by.empty()) {
    throw Error(fmt::format("--n takes sizes and ranges such as 1000, 100..1e6, 100..1e6:2 or "
                            "100..900:+100, not '{}'",
                            excerpt(part)));
  }
  return fmt::format("{{ from = {}, to = {}, {} = {} }}", json_string(from), json_string(to),
                     is_step ? "step" : "factor", json_string(by));
}

std::string size_values(const std::string& list) {
  std::vector<std::string> values;
  for (const std::string& part : parts_of(list, "--n")) values.push_back(size_value(part));
  return fmt::format("[{}]", join_parts(values, ", "));
}

std::string values_text(const std::vector<std::string>& values) {
  std::vector<std::string> quoted;
  for (const std::string& value : values) quoted.push_back(json_string(value));
  return quoted.size() == 1 ? quoted.front() : fmt::format("[{}]", join_parts(quoted, ", "));
}

// { N = "n", T = ["4*n", "8*n"] }; a parameter that is given twice has both values.
std::string params_text(const std::vector<std::string>& params) {
  std::vector<std::string> names;
  std::map<std::string, std::vector<std::string>> values;
  for (const auto& [name, value] : experiment::param_options(params)) {
    if (!values.contains(name)) names.push_back(name);
    for (std::string& part : parts_of(value, "--param " + name)) {
      values[name].push_back(std::move(part));
    }
  }
  for (std::string& name : names) {
    name = fmt::format("{} = {}", json_string(name), values_text(values[name]));
  }
  return fmt::format("{{ {} }}", join_parts(names, ", "));
}

std::string text_of(const RunText& words, const std::string& trials) {
  std::string text =
      fmt::format("name = {}\nprotocol = {}\nn = {}\ntrials = {}\n",
                  json_string(std::filesystem::path(words.protocol).stem().string()),
                  json_string(words.protocol), size_values(words.n), json_string(trials));
  if (!words.params.empty()) text += fmt::format("params = {}\n", params_text(words.params));
  for (const auto& option : experiment::run_options()) {
    const auto* const word = std::get_if<std::string RunText::*>(&option.value);
    const auto* const list = std::get_if<std::vector<std::string> RunText::*>(&option.value);
    const auto* const flag = std::get_if<bool RunText::*>(&option.value);
    if (!option.is_accepted_by(experiment::by_run) || option.name == "n") continue;
    if (option.name == "param") continue;
    const std::string_view key = option.plan_key();
    if (word != nullptr && !(words.**word).empty()) {
      text += fmt::format("{} = {}\n", key, json_string(words.**word));
    } else if (list != nullptr && !(words.**list).empty()) {
      text += fmt::format("{} = {}\n", key, values_text(words.**list));
    } else if (flag != nullptr && words.**flag) {
      text += fmt::format("{} = true\n", key);
    }
  }
  return text;
}

}  // namespace

Plan plan_of(const RunText& words, const std::string& trials) {
  return parse_plan("", text_of(words, trials));
}

std::vector<std::string> params_at(const RunText& words) {
  const auto is_expression = [](const catalog::Setting& param) {
    const std::string& value = param.value;
    const bool has_letters = std::ranges::any_of(
        value, [](unsigned char c) { return std::isalpha(c) != 0 && c != 'e' && c != 'E'; });
    return value == "n" || (has_letters && value.find_first_of("(+*/^") != value.npos);
  };
  const std::vector<catalog::Setting> settings = experiment::param_options(words.params);
  if (words.n.empty() || std::ranges::none_of(settings, is_expression)) return words.params;
  const Plan plan = plan_of(words, "1");
  if (plan.cells.size() == 1) return plan.cells.front().words.params;
  throw Error("several values of a parameter belong to a sweep: conclave sweep");
}

std::vector<std::string> sizes_of(const std::string& list) try {
  const toml::table table = parse_toml(fmt::format("n = {}", size_values(list)), "");
  std::vector<std::string> sizes;
  for (const Value& value : alternatives(*table.get("n"))) {
    sizes.push_back(evaluated(value, {}, Rounding::down));
  }
  return sizes;
} catch (const ValueError& error) {
  throw Error(fmt::format("--n: {}", error.what()));
}

}  // namespace conclave::sweep
