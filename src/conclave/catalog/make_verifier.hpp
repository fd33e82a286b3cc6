// Joins one protocol with the exact module. Included once per protocol, by a generated source,
// which also includes the protocol's file of lemmas where there is one.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "conclave/catalog/catalog.hpp"
#include "conclave/catalog/resolve.hpp"
#include "conclave/exact/network.hpp"
#include "conclave/exact/verification.hpp"

namespace conclave::catalog {

template <PopulationProtocol P>
exact::Network network_of(const RunRequest& request, AgentCount n) {
  const std::string graph = accepted_graph(P::info, topology_of<P>, request.graph);
  if (topology_of<P> == Topology::directed_ring) return exact::Network::directed_ring(n);
  if (graph.empty() || !request.digraph) return exact::Network::complete(n);
  return exact::Network::of(*request.digraph);
}

template <PopulationProtocol P>
Verified verify(const VerifyRequest& request) {
  const AgentCount n = checked_population(request.run.n);
  const auto parameters = resolved_parameters<P>(request.run.settings, n);
  const std::size_t start = start_index(P::info, P::starts, request.run.start);
  exact::VerifyOptions options{.start = start,
                               .extent = static_cast<exact::Extent>(request.extent),
                               .congruence = request.congruence,
                               .within = request.within,
                               .exactly = request.exactly,
                               .law_steps = request.law_steps,
                               .law_tail = request.law_tail};
  if (!request.target.empty()) options.target = request.target;
  options.bounds.memory = request.memory;
  if (request.progress) options.bounds.progress = request.progress;
  exact::Verification<P> verification(P(parameters, n), network_of<P>(request.run, n),
                                      std::move(options));
  Verified verified{verification.run(), values_in_effect(parameters), P::starts[start].name};
  if (!request.folder.empty()) verification.write_files(request.folder);
  return verified;
}

}  // namespace conclave::catalog
