// Joins a message-passing protocol with the search through all its schedules. A generated source
// includes this once per protocol. What does not depend on its type is compiled once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/function_ref.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/catalog/make_network_entry.hpp"
#include "conclave/catalog/network_graph.hpp"
#include "conclave/catalog/resolve.hpp"
#include "conclave/model/message.hpp"
#include "conclave/model/protocol_info.hpp"
#include "conclave/model/trial.hpp"
#include "conclave/network/rules.hpp"
#include "conclave/schedules/asynchronous.hpp"
#include "conclave/schedules/search.hpp"
#include "conclave/schedules/synchronous.hpp"

namespace conclave::catalog {

// Explores all schedules; `trace` describes a schedule in words. Throws Error, with an estimate of
// what the whole exploration would take, if the limit is reached before a counterexample is found.
Exploration explored(
    std::string_view protocol, const ExplorationRequest& request,
    const schedules::AnySystem& system,
    const std::function<std::vector<schedules::TraceStep>(const schedules::Schedule&)>& trace);

// Throws Error: there are too many nodes to walk through all schedules. `largest` is the system of
// the largest network for which they are.
[[noreturn]] void refuse_nodes(const ProtocolInfo& info, const ExplorationRequest& request,
                               const schedules::AnySystem& largest);

// Ranks are only compared. With identifiers, which break ties, all orders of the nodes are alike up
// to their names, so that one rank will do; without, n ranks give all orders and all ties. Two
// consecutive rounds differ in parity, so round numbers modulo 2 are enough. Two terms are enough
// for a leader to hear of a later one.
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

// The system that a search walks through; protocol and graph must outlive it.
template <MessageProtocol P>
auto schedules_of(const P& protocol, std::size_t n, bool has_identifiers, const PortGraph* graph) {
  if constexpr (AsynchronousProtocol<P>)
    return schedules::AsynchronousSchedules(protocol, n, has_identifiers, graph);
  else
    return schedules::SynchronousSchedules(protocol, n, has_identifiers, graph);
}

// Throws Error if the protocol needs identifiers and the request has none.
template <MessageProtocol P>
bool uses_identifiers(const ExplorationRequest& request) {
  if constexpr (Anonymous<P>) return false;
  if (!request.has_identifiers && NeedsIdentifiers<P>) {
    throw Error(fmt::format("{} needs unique identifiers", P::info.name));
  }
  return request.has_identifiers;
}

// The parameters in effect, with the fewest ranks that give every order. Throws Error with the
// objection of the protocol.
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

// Throws Error: the request has too few or too many nodes.
template <MessageProtocol P>
void refuse_size(const ExplorationRequest& request) {
  const std::size_t n = schedules::most_nodes;
  const auto graph = port_graph(P::info, network_of<P>, {}, nullptr, n);
  const P protocol(explored_parameters<P>(request, n, graph.get()), n);
  const auto system = schedules_of(protocol, n, uses_identifiers<P>(request), graph.get());
  refuse_nodes(P::info, request, schedules::SystemOf(system));
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
  const auto system = schedules_of(protocol, n, has_identifiers, graph.get());
  Exploration result =
      explored(P::info.name, request, schedules::SystemOf(system),
               [&](const schedules::Schedule& schedule) { return system.trace(schedule); });
  result.n = n;
  result.has_identifiers = has_identifiers;
  result.parameters = values_in_effect(parameters);
  return result;
}

// The search for bad adversaries of message passing: what is searched for is a table of rules by
// which an adaptive adversary delays messages and wakes nodes (network/rules.hpp). A generated
// source includes this once per protocol; the search itself knows the protocol only by its kinds of
// messages and by how a trial ends.

// A trial of this number against the adversary of a table.
using RunRuled =
    FunctionRef<TrialResult(const network::Situations& situations,
                            std::span<const network::Rule> table, std::uint64_t trial)>;

// `run` is the prepared run of the request. Throws Error for large networks and unknown objectives.
Searched search_rules(const SearchRequest& request, const PreparedRun& run,
                      std::span<const std::string_view> kinds, RunRuled run_ruled);

// Throws Error for synchronous protocols, which have no delays, and for large networks.
template <MessageProtocol P>
Searched search_adversary(const SearchRequest& request) {
  if constexpr (SynchronousProtocol<P>) {
    throw Error(fmt::format("{} is synchronous: there are no delays to search for", P::info.name));
  } else {
    const PreparedNetwork<P> run(request.run);  // checks the request
    return search_rules(
        request, run, P::kinds,
        [&](const network::Situations& situations, std::span<const network::Rule> table,
            std::uint64_t trial) { return run.run_ruled(situations, table, trial); });
  }
}

}  // namespace conclave::catalog
