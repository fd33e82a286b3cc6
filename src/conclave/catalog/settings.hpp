// From "m=20" to a member of a protocol's Parameters and back.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/numbers.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/model/parameters.hpp"

namespace conclave::catalog {

template <class Parameters, class Visit>
void for_each_parameter(Visit&& visit) {
  std::apply([&](const auto&... field) { (visit(field), ...); }, Parameters::fields);
}

template <class Owner, class E>
std::string allowed_text(const Parameter<Owner, E>&) {
  return fmt::format("{}", fmt::join(names_of<E>, " | "));
}
template <class Owner>
std::string allowed_text(const Parameter<Owner, std::optional<std::uint64_t>>& field) {
  return fmt::format("{} ... {}", field.low, field.high);
}

template <class Owner>
std::string allowed_text(const Parameter<Owner, std::optional<double>>& field) {
  return fmt::format("{} ... {}, decimals too", field.low, field.high);
}

template <class Owner, class E>
void assign(const Parameter<Owner, E>& field, std::type_identity_t<Owner>& owner,
            const std::string& text) {
  const auto& names = names_of<E>;
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) {
    throw Error(unknown_name(fmt::format("value of parameter {}", field.name), text, names));
  }
  owner.*field.member = static_cast<E>(found - names.begin());
}
template <class Owner>
void assign(const Parameter<Owner, std::optional<std::uint64_t>>& field,
            std::type_identity_t<Owner>& owner, const std::string& text) {
  const std::optional<Interactions> number = parse_count(text);
  if (!number) {
    throw Error(fmt::format("parameter {}: '{}' is not a whole number", field.name, text));
  }
  if (*number < field.low || *number > field.high) {
    throw Error(fmt::format("parameter {} = {} is out of range: {} ... {} is allowed", field.name,
                            text, field.low, field.high));
  }
  owner.*field.member = number->as_uint64();
}

template <class Owner>
void assign(const Parameter<Owner, std::optional<double>>& field,
            std::type_identity_t<Owner>& owner, const std::string& text) {
  const std::optional<double> number = parse_real(text);
  if (!number) throw Error(fmt::format("parameter {}: '{}' is not a number", field.name, text));
  if (*number < static_cast<double>(field.low) || *number > static_cast<double>(field.high)) {
    throw Error(fmt::format("parameter {} = {} is out of range: {} ... {} is allowed", field.name,
                            text, field.low, field.high));
  }
  owner.*field.member = *number;
}

template <class Parameters>
Parameters parse_settings(std::string_view protocol, const std::vector<Setting>& settings) {
  Parameters parameters;
  std::vector<std::string_view> names;
  for_each_parameter<Parameters>([&](const auto& field) { names.push_back(field.name); });
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
    for_each_parameter<Parameters>([&](const auto& field) {
      if (field.name == setting.name) assign(field, parameters, setting.value);
    });
  }
  return parameters;
}

// What a row shows: numbers that hold a value, enumerations that are not the default.
template <class Parameters>
std::vector<ParameterValue> values_in_effect(const Parameters& parameters) {
  std::vector<ParameterValue> values;
  for_each_parameter<Parameters>([&](const auto& field) {
    const auto& value = parameters.*field.member;
    if constexpr (std::is_enum_v<std::remove_cvref_t<decltype(value)>>) {
      if (value == Parameters{}.*field.member) return;
      const auto index = static_cast<std::size_t>(value);
      ParameterValue& shown = values.emplace_back(ParameterValue{field.name, {}});
      shown.value = std::string(names_of<std::remove_cvref_t<decltype(value)>>[index]);
    } else if (value) {
      ParameterValue& shown = values.emplace_back(ParameterValue{field.name, {}});
      shown.value = *value;
    }
  });
  return values;
}

template <class Parameters>
std::vector<ParameterInfo> parameter_infos() {
  std::vector<ParameterInfo> infos;
  for_each_parameter<Parameters>([&](const auto& field) {
    infos.push_back({field.name, field.meaning, field.fallback, allowed_text(field)});
  });
  return infos;
}

}  // namespace conclave::catalog
