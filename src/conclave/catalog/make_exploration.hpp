// Joins a message-passing protocol with the search through all its schedules. A generated source
// includes this once per protocol.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/catalog/exploration.hpp"
#include "conclave/catalog/network_graph.hpp"
#include "conclave/catalog/settings.hpp"
#include "conclave/model/message.hpp"
#include "conclave/schedules/asynchronous.hpp"
#include "conclave/schedules/estimate.hpp"
#include "conclave/schedules/search.hpp"
#include "conclave/schedules/synchronous.hpp"

namespace conclave::catalog {

// Ranks are only compared. With identifiers, which break ties, all orders of the nodes are alike up
// to their names, so that one rank will do; without, n ranks give all orders and all ties.
// Round numbers are told from the next by their parity. Two terms are enough for a leader to hear
// of a later one.
template <class Parameters>
Parameters with_few_ranks(Parameters parameters, std::size_t n, bool has_identifiers) {
  if constexpr (requires { parameters.ranks; }) {
    if (!parameters.ranks) parameters.ranks = has_identifiers ? 1 : n;
  }
  if constexpr (requires { parameters.round_numbers; }) {
    if (!parameters.round_numbers) parameters.round_numbers = 2;
  }
  if constexpr (requires { parameters.terms; }) {
    if (!parameters.terms) parameters.terms = 2;
  }
  return parameters;
}

// Throws Error with an estimate of what the whole exploration would take.
template <class System>
void refuse(std::string_view protocol, const ExplorationRequest& request, const System& system,
            const schedules::SearchResult& result) {
  const schedules::Estimate estimate = schedules::estimate_schedules(system);
  throw Error(fmt::format(
      "{} with n = {} is too large: {} configurations reach only to step {} of about {:.0f}, and "
      "there are about {:.0e} schedules; use a smaller n, toy parameters (see describe), or a "
      "larger --max-configurations than {}",
      protocol, to_string(request.n), result.configurations, result.depth, estimate.steps,
      estimate.schedules, request.most_configurations));
}

// Explores. Throws Error if the limit is reached before a counterexample is found.
template <class System>
Exploration explored(std::string_view protocol, const ExplorationRequest& request,
                     const System& system) {
  const schedules::SearchResult result = schedules::search(
      system, {.configurations = request.most_configurations, .progress = request.progress});
  Exploration exploration{.configurations = result.configurations,
                          .transitions = result.transitions,
                          .final_configurations = result.final_configurations,
                          .schedules = result.schedules,
                          .longest = result.longest,
                          .is_complete = result.is_complete};
  for (const schedules::Verdict& verdict : result.verdicts) {
    exploration.properties.push_back({.name = verdict.property, .holds = verdict.holds});
    if (verdict.holds) continue;
    exploration.properties.back().counterexample = system.trace(verdict.counterexample);
  }
  const bool is_over_limit = result.configurations > request.most_configurations;
  const bool nothing_found = std::ranges::all_of(result.verdicts, &schedules::Verdict::holds);
  if (!result.is_complete && is_over_limit && nothing_found) {
    refuse(protocol, request, system, result);
  }
  return exploration;
}

template <MessageProtocol P>
auto schedules_of(const P& protocol, std::size_t n, bool has_identifiers, const PortGraph* graph) {
  if constexpr (AsynchronousProtocol<P>)
    return schedules::AsynchronousSchedules(protocol, n, has_identifiers, graph);
  else
    return schedules::SynchronousSchedules(protocol, n, has_identifiers, graph);
}

template <MessageProtocol P>
bool uses_identifiers(const ExplorationRequest& request) {
  if constexpr (Anonymous<P>) return false;
  if (!request.has_identifiers && NeedsIdentifiers<P>) {
    throw Error(fmt::format("{} needs unique identifiers", P::info.name));
  }
  return request.has_identifiers;
}

template <MessageProtocol P>
typename P::Parameters explored_parameters(const ExplorationRequest& request, std::size_t n,
                                           const PortGraph* graph) {
  const auto given = parse_settings<typename P::Parameters>(P::info.name, request.settings);
  const auto parameters =
      with_few_ranks(with_diameter(P::info, given, graph), n, uses_identifiers<P>(request));
  if (const std::string objection = P::objection(parameters, n); !objection.empty()) {
    throw Error(objection);
  }
  return parameters;
}

template <MessageProtocol P>
void refuse_size(const ExplorationRequest& request) {
  const auto graph = port_graph(P::info, network_of<P>, {}, nullptr, schedules::most_nodes);
  const P protocol(explored_parameters<P>(request, schedules::most_nodes, graph.get()),
                   schedules::most_nodes);
  const auto system =
      schedules_of(protocol, schedules::most_nodes, uses_identifiers<P>(request), graph.get());
  throw Error(fmt::format(
      "n = {}: the schedules of {} are walked through for {} ... {} nodes; with {} nodes there are "
      "already about {:.0e} of them",
      to_string(request.n), P::info.name, P::info.smallest_n, schedules::most_nodes,
      schedules::most_nodes, schedules::estimate_schedules(system, 100).schedules));
}

// The answer to a request of Entry::explore.
template <MessageProtocol P>
Exploration explore(const ExplorationRequest& request) {
  if (request.n < P::info.smallest_n || request.n > schedules::most_nodes) refuse_size<P>(request);
  const auto n = static_cast<std::size_t>(*request.n.as_uint64());
  const auto graph = port_graph(P::info, network_of<P>, request.graph, request.digraph.get(), n);
  const auto parameters = explored_parameters<P>(request, n, graph.get());
  const P protocol(parameters, n);
  const bool has_identifiers = uses_identifiers<P>(request);
  Exploration result =
      explored(P::info.name, request, schedules_of(protocol, n, has_identifiers, graph.get()));
  result.n = n;
  result.has_identifiers = has_identifiers;
  result.parameters = values_in_effect(parameters);
  return result;
}

}  // namespace conclave::catalog
