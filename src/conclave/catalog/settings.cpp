#include "conclave/catalog/settings.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/join_parts.hpp"
#include "conclave/base/numbers.hpp"

namespace conclave::catalog {
namespace {

std::string out_of_range(std::string_view parameter, const std::string& text, std::uint64_t low,
                         std::uint64_t high) {
  return fmt::format("parameter {} = {} is out of range: {} ... {} is allowed", parameter, text,
                     low, high);
}

}  // namespace

std::string allowed_names(std::span<const std::string_view> names) {
  return join_parts(names, " | ");
}

std::string allowed_range(std::uint64_t low, std::uint64_t high, bool has_decimals) {
  return fmt::format("{} ... {}{}", low, high, has_decimals ? ", decimals too" : "");
}

std::size_t name_value(std::string_view parameter, const std::string& text,
                       std::span<const std::string_view> names) {
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) {
    throw Error(unknown_name(fmt::format("value of parameter {}", parameter), text, names));
  }
  return static_cast<std::size_t>(found - names.begin());
}

std::uint64_t whole_value(std::string_view parameter, const std::string& text, std::uint64_t low,
                          std::uint64_t high) {
  const std::optional<Interactions> number = parse_count(text);
  if (!number) {
    throw Error(fmt::format("parameter {}: '{}' is not a whole number", parameter, text));
  }
  if (*number < low || *number > high) throw Error(out_of_range(parameter, text, low, high));
  return *number->as_uint64();
}

double real_value(std::string_view parameter, const std::string& text, std::uint64_t low,
                  std::uint64_t high) {
  const std::optional<double> number = parse_real(text);
  if (!number) throw Error(fmt::format("parameter {}: '{}' is not a number", parameter, text));
  if (*number < static_cast<double>(low) || *number > static_cast<double>(high)) {
    throw Error(out_of_range(parameter, text, low, high));
  }
  return *number;
}

void check_settings(std::string_view protocol, std::span<const std::string_view> names,
                    const std::vector<Setting>& settings) {
  std::vector<std::string_view> seen;
  for (const Setting& setting : settings) {
    if (names.empty()) {
      throw Error(fmt::format("{} has no parameters, but '{}' was given", protocol, setting.name));
    }
    if (std::ranges::find(names, setting.name) == names.end()) {
      throw Error(unknown_name(fmt::format("parameter of {}", protocol), setting.name, names));
    }
    if (std::ranges::find(seen, setting.name) != seen.end()) {
      throw Error(fmt::format("parameter {} was given twice", setting.name));
    }
    seen.push_back(setting.name);
  }
}

}  // namespace conclave::catalog
