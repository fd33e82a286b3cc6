#include "conclave/catalog/resolve.hpp"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/join_parts.hpp"
#include "conclave/base/numbers.hpp"
#include "conclave/base/printable.hpp"

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

void check_population(const ProtocolInfo& info, AgentCount n, const std::string& objection) {
  if (!objection.empty()) throw Error(objection);
  if (n < info.smallest_n) {
    throw Error(fmt::format("n = {}: {} needs at least {} agents", n, info.name, info.smallest_n));
  }
}

std::size_t start_index(const ProtocolInfo& info, std::span<const Start> starts,
                        const std::string& name) {
  if (name.empty()) return 0;
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    if (starts[i].name == name) return i;
    names.push_back(starts[i].name);
  }
  throw Error(unknown_name(fmt::format("initial configuration of {}", info.name), name, names));
}

std::string accepted_graph(const ProtocolInfo& info, Topology topology, const std::string& graph) {
  const std::string own = topology == Topology::directed_ring ? "ring" : "complete";
  if (graph.empty() || graph == own) return {};
  if (topology == Topology::any) return graph;
  throw Error(fmt::format("{} is made for the {}: {}", info.name, info.network, info.only_there));
}

void refuse_horizons(const RunRequest& request, std::string_view who, std::string_view why) {
  const TrialPlan& plan = request.plan;
  const auto refuse = [&](std::string_view option) {
    throw Error(fmt::format("{} does not support {}: {}", who, option, why));
  };
  if (plan.until) refuse("--until");
  if (plan.keeps_history) refuse("--history");
  if (plan.keeps_final) refuse("--final");
  if (request.given) refuse("--init-from");
}

void check_given(const GivenStart& given, AgentCount n) {
  Interactions agents;
  for (const NamedCount& each : given.agents) {
    if (each.count == 0) throw Error(fmt::format("{} has a state of 0 agents", given.label));
    agents += each.count;
  }
  if (agents == n) return;
  throw Error(fmt::format("--n is {}, but the configuration that is given has {} agents", n,
                          to_string(agents)));
}

GivenNames given_names(const GivenStart& given) {
  GivenNames result;
  std::unordered_map<std::string_view, std::size_t> place_of;
  for (const NamedCount& each : given.agents) {
    const auto [found, is_new] = place_of.try_emplace(each.name, result.names.size());
    if (is_new) result.names.push_back(each.name);
    result.places.push_back(found->second);
  }
  return result;
}

void refuse_state(std::string_view protocol, std::string_view name, std::string_view example) {
  throw Error(fmt::format("'{}' is no state of {}; states are written as '{}'", excerpt(name),
                          protocol, example));
}

void refuse_faults(std::string_view protocol, const TrialPlan& plan) {
  if (!plan.faults.empty()) {
    throw Error(fmt::format("{} does not support fault injection", protocol));
  }
}

void check_struck_agents(const Fault& fault, AgentCount n, bool knows_agents,
                         std::string_view engine) {
  if (!fault.is_percentage && fault.amount > static_cast<double>(n)) {
    throw Error(fmt::format("fault {}: there are only {} agents", fault.text, n));
  }
  if (!fault.agent) return;
  if (!knows_agents) {
    throw Error(fmt::format("fault {}: engine {} does not know one agent from another; use engine "
                            "agents",
                            fault.text, engine));
  }
  if (*fault.agent >= n) {
    throw Error(fmt::format("fault {}: the agents are numbered 0 to {}", fault.text, n - 1));
  }
}

}  // namespace conclave::catalog
