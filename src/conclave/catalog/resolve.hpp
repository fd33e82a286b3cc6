// From what a user asks for to what a protocol takes: parameters, start, graph. A request that
// makes no sense is an Error with one sentence. Only what depends on a protocol's type is a
// template; the rest is compiled once.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conclave/catalog/catalog.hpp"
#include "conclave/catalog/settings.hpp"
#include "conclave/model/population.hpp"

namespace conclave::catalog {

// Throws Error where the protocol objects to its parameters (an empty objection is none), or where
// n is below its smallest population.
void check_population(const ProtocolInfo& info, AgentCount n, const std::string& objection);

// The number of a named start; the first if no name is given. Throws Error for an unknown name.
std::size_t start_index(const ProtocolInfo& info, std::span<const Start> starts,
                        const std::string& name);

// The graph's name, where a protocol of this topology can run on it; empty for its own. Throws
// Error where it cannot.
std::string accepted_graph(const ProtocolInfo& info, Topology topology, const std::string& graph);

// Throws Error where the plan has faults; for protocols that do not support them.
void refuse_faults(std::string_view protocol, const TrialPlan& plan);

// All parameters of P, those that follow from n filled in.
template <ListedProtocol P>
typename P::Parameters resolved_parameters(const std::vector<Setting>& settings, AgentCount n) {
  auto parameters = parse_settings<typename P::Parameters>(P::info.name, settings);
  if constexpr (requires { parameters.resolve(n); }) parameters.resolve(n);
  check_population(P::info, n, P::objection(parameters, n));
  return parameters;
}

}  // namespace conclave::catalog
