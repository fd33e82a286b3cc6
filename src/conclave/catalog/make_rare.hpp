// Adds estimates of rare failures to the entry of a listed protocol. A generated source includes
// this once per protocol that has a file of importance functions.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/catalog/rare_request.hpp"
#include "conclave/catalog/resolve.hpp"
#include "conclave/model/rare.hpp"
#include "conclave/rare/make_prepared.hpp"

namespace conclave::catalog {

// The answer to a request of Entry::rare.
template <ListedProtocol P>
std::unique_ptr<rare::Prepared> prepare_rare(const RareRequest& request) {
  const AgentCount n = rare::checked_population(checked_population(request.run.n));
  const auto parameters = resolved_parameters<P>(request.run.settings, n);
  accepted_graph(P::info, topology_of<P>, request.run.graph);
  const P protocol(parameters, n);
  auto rarity = rarity_of(protocol, n);
  if (const std::string objection = rarity.objection(); !objection.empty()) {
    throw Error(fmt::format("{}: {}", P::info.name, objection));
  }
  const std::string asked =
      request.run.start.empty() ? std::string(rarity.start) : request.run.start;
  const std::size_t start = start_index(P::info, P::starts, asked);
  if (const std::string objection = rarity.objection_to(start); !objection.empty()) {
    throw Error(fmt::format("start {} of {}: {}", P::starts[start].name, P::info.name, objection));
  }
  check_rare_request(P::info.name, request, false);
  const rare::FailingProtocol<P, decltype(rarity)> failing{protocol, start, std::move(rarity)};
  return rare::make_prepared(
      failing, request.choice,
      rare_subject(request, n, P::info.name, P::starts[start].name, values_in_effect(parameters)));
}

// Adds to the entry how the rare failures of a listed protocol are estimated.
template <ListedProtocol P>
void add_rarity(Entry& entry) {
  using Rarity = decltype(rarity_of(std::declval<const P&>(), AgentCount{}));
  entry.rare_ways = Rarity::all_ways;
  entry.rare_functions = Rarity::all_functions;
  entry.rare = prepare_rare<P>;
}

}  // namespace conclave::catalog
