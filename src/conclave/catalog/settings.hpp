// From "m=20" to a member of a protocol's Parameters and back. Only what depends on the type of the
// Parameters is a template; the rest is compiled once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "conclave/catalog/catalog.hpp"
#include "conclave/model/protocol_info.hpp"

namespace conclave::catalog {

// Calls `visit` with each field of the Parameters, a Parameter of model/protocol_info.hpp, in
// order.
template <class Parameters, class Visit>
void for_each_parameter(Visit&& visit) {
  std::apply([&](const auto&... field) { (visit(field), ...); }, Parameters::fields);
}

// The values that a parameter may have, in words.
std::string allowed_names(std::span<const std::string_view> names);
std::string allowed_range(std::uint64_t low, std::uint64_t high, bool has_decimals);

// The value of a parameter from the user's text. All throw Error if it is not allowed.
std::size_t name_value(std::string_view parameter, const std::string& text,
                       std::span<const std::string_view> names);
std::uint64_t whole_value(std::string_view parameter, const std::string& text, std::uint64_t low,
                          std::uint64_t high);
double real_value(std::string_view parameter, const std::string& text, std::uint64_t low,
                  std::uint64_t high);

// Throws Error if a setting has no parameter of its name or is given twice.
void check_settings(std::string_view protocol, std::span<const std::string_view> names,
                    const std::vector<Setting>& settings);

// The values that a field may have, in words.
template <class Owner, class E>
std::string allowed_text(const Parameter<Owner, E>&) {
  return allowed_names(names_of<E>);
}
template <class Owner>
std::string allowed_text(const Parameter<Owner, std::optional<std::uint64_t>>& field) {
  return allowed_range(field.low, field.high, false);
}
template <class Owner>
std::string allowed_text(const Parameter<Owner, std::optional<double>>& field) {
  return allowed_range(field.low, field.high, true);
}

// Sets the field of `owner` from the user's text. Throws Error if the value is not allowed.
template <class Owner, class E>
void assign(const Parameter<Owner, E>& field, std::type_identity_t<Owner>& owner,
            const std::string& text) {
  owner.*field.member = static_cast<E>(name_value(field.name, text, names_of<E>));
}
template <class Owner>
void assign(const Parameter<Owner, std::optional<std::uint64_t>>& field,
            std::type_identity_t<Owner>& owner, const std::string& text) {
  owner.*field.member = whole_value(field.name, text, field.low, field.high);
}
template <class Owner>
void assign(const Parameter<Owner, std::optional<double>>& field,
            std::type_identity_t<Owner>& owner, const std::string& text) {
  owner.*field.member = real_value(field.name, text, field.low, field.high);
}

// The parameters as the user gave them; those not given have their defaults. Throws Error if a
// setting makes no sense.
template <class Parameters>
Parameters parse_settings(std::string_view protocol, const std::vector<Setting>& settings) {
  Parameters parameters;
  std::vector<std::string_view> names;
  for_each_parameter<Parameters>([&](const auto& field) { names.push_back(field.name); });
  check_settings(protocol, names, settings);
  for (const Setting& setting : settings) {
    for_each_parameter<Parameters>([&](const auto& field) {
      if (field.name == setting.name) assign(field, parameters, setting.value);
    });
  }
  return parameters;
}

// The parameters that a row shows: numbers that hold a value, and enumerations that differ from
// the default.
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

// The parameters as `describe` lists them.
template <class Parameters>
std::vector<ParameterInfo> parameter_infos() {
  std::vector<ParameterInfo> infos;
  for_each_parameter<Parameters>([&](const auto& field) {
    infos.push_back({field.name, field.meaning, field.fallback, allowed_text(field)});
  });
  return infos;
}

}  // namespace conclave::catalog
