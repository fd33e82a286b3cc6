// Turns a user's request into what a protocol takes: parameters, start, graph. A request that makes
// no sense is an Error with one sentence. Only what depends on a protocol's type is a template; the
// rest is compiled once.
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
#include "conclave/model/population.hpp"
#include "conclave/model/protocol_info.hpp"
#include "conclave/model/starting_census.hpp"

namespace conclave::catalog {

// Settings: from "m=20" to a member of a protocol's Parameters and back.

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

// Throws Error if the protocol objects to its parameters (an empty objection is none), or if n is
// below its smallest population.
void check_population(const ProtocolInfo& info, AgentCount n, const std::string& objection);

// The number of a named start; the first if no name is given. Throws Error for an unknown name.
std::size_t start_index(const ProtocolInfo& info, std::span<const Start> starts,
                        const std::string& name);

// The graph's name, where a protocol of this topology can run on it; empty for its own. Throws
// Error if it cannot.
std::string accepted_graph(const ProtocolInfo& info, Topology topology, const std::string& graph);

// Throws Error if the plan has faults; for protocols that do not support them.
void refuse_faults(std::string_view protocol, const TrialPlan& plan);

// Throws Error if the fault hits more agents than there are, if it names one that does not exist,
// or one of an engine that cannot tell agents apart.
void check_struck_agents(const Fault& fault, AgentCount n, bool knows_agents,
                         std::string_view engine);

// Throws Error if the plan ends at a time, keeps a history or a configuration, or the request
// starts from one; `who` cannot do that; `why` is the reason.
void refuse_horizons(const RunRequest& request, std::string_view who, std::string_view why);

// Throws Error: the protocol has no state of this name.
[[noreturn]] void refuse_state(std::string_view protocol, std::string_view name,
                               std::string_view example);

// Throws Error unless these are n agents in all, each run with at least one.
void check_given(const GivenStart& given, AgentCount n);

// The names of a given start, each once, in the order in which they come, and where in this list
// the name of each run stands. The names are views into the start.
struct GivenNames {
  std::vector<std::string_view> names{};
  std::vector<std::size_t> places{};
};
// Expected O(runs).
GivenNames given_names(const GivenStart& given);

// The agents of a given start, as states of the protocol. Throws Error if a name is no state, or if
// they are not n.
template <PopulationProtocol P>
Census<typename P::State> given_agents(const P& protocol, std::string_view name,
                                       const GivenStart* given, AgentCount n) {
  Census<typename P::State> agents;
  if (given == nullptr) return agents;
  check_given(*given, n);
  const GivenNames names = given_names(*given);
  std::vector<typename P::State> states;
  for (const std::string_view each : names.names) {
    const auto state = state_of_name(protocol, each);
    if (!state) refuse_state(name, each, name_of_state(protocol, {}));
    states.push_back(*state);
  }
  for (std::size_t i = 0; i < names.places.size(); ++i) {
    agents.emplace_back(states[names.places[i]], given->agents[i].count);
  }
  return agents;
}

// All parameters of P, those that follow from n filled in. Not inlined, for all requests begin so.
template <PopulationProtocol P>
[[gnu::noinline]] typename P::Parameters resolved_parameters(const std::vector<Setting>& settings,
                                                             AgentCount n) {
  auto parameters = parse_settings<typename P::Parameters>(P::info.name, settings);
  if constexpr (requires { parameters.resolve(n); }) parameters.resolve(n);
  check_population(P::info, n, P::objection(parameters, n));
  return parameters;
}

}  // namespace conclave::catalog
