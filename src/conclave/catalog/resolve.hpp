// From what a user asks for to what a protocol takes: parameters, start, graph. Mistakes are
// Errors.
#pragma once

#include <cstddef>
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
template <PopulationProtocol P>
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
template <PopulationProtocol P>
std::size_t start_index(const std::string& name) {
  if (name.empty()) return 0;
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < P::starts.size(); ++i) {
    if (P::starts[i].name == name) return i;
    names.push_back(P::starts[i].name);
  }
  throw Error(unknown_name(fmt::format("start of {}", P::info.name), name, names));
}

// The graph's name, where the protocol can run on it; empty for its own.
template <PopulationProtocol P>
std::string accepted_graph(const std::string& graph) {
  const std::string own = topology_of<P> == Topology::directed_ring ? "ring" : "complete";
  if (graph.empty() || graph == own) return {};
  if (topology_of<P> == Topology::any) return graph;
  throw Error(
      fmt::format("{} is made for the {}: {}", P::info.name, P::info.network, P::info.only_there));
}

}  // namespace conclave::catalog
