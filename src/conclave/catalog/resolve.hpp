// From what a user asks for to what a protocol takes: parameters, start, graph. Mistakes are
// Errors.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/catalog/settings.hpp"
#include "conclave/model/population.hpp"

namespace conclave::catalog {

// All parameters of P, those that follow from n filled in.
template <ListedProtocol P>
typename P::Parameters resolved_parameters(const std::vector<Setting>& settings, AgentCount n) {
  auto parameters = parse_settings<typename P::Parameters>(P::info.name, settings);
  if constexpr (requires { parameters.resolve(n); }) parameters.resolve(n);
  const std::string objection = P::objection(parameters, n);
  if (!objection.empty()) throw Error(objection);
  if (n < P::info.smallest_n) {
    throw Error(
        fmt::format("n = {}: {} needs at least {} agents", n, P::info.name, P::info.smallest_n));
  }
  return parameters;
}

// The number of a named start; the first if no name is given.
inline std::size_t start_index(const ProtocolInfo& info, std::span<const Start> starts,
                               const std::string& name) {
  if (name.empty()) return 0;
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    if (starts[i].name == name) return i;
    names.push_back(starts[i].name);
  }
  throw Error(unknown_name(fmt::format("start of {}", info.name), name, names));
}

// The graph's name, where a protocol of this topology can run on it; empty for its own.
inline std::string accepted_graph(const ProtocolInfo& info, Topology topology,
                                  const std::string& graph) {
  const std::string own = topology == Topology::directed_ring ? "ring" : "complete";
  if (graph.empty() || graph == own) return {};
  if (topology == Topology::any) return graph;
  throw Error(fmt::format("{} is made for the {}: {}", info.name, info.network, info.only_there));
}

}  // namespace conclave::catalog
