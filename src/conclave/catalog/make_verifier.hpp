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

// Where agents meet, for a protocol of this topology whose request has passed accepted_graph.
inline exact::Network network_of(Topology topology, const RunRequest& request, AgentCount n) {
  if (topology == Topology::directed_ring) return exact::Network::directed_ring(n);
  if (request.graph.empty() || !request.digraph) return exact::Network::complete(n);
  return exact::Network::of(*request.digraph);
}

inline exact::VerifyOptions options_of(const VerifyRequest& request, std::size_t start) {
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
  return options;
}

template <PopulationProtocol P>
exact::Report report_on(const P& protocol, exact::Network network, std::size_t start,
                        const VerifyRequest& request) {
  exact::Verification<P> verification(protocol, std::move(network), options_of(request, start));
  exact::Report report = verification.run();
  if (!request.folder.empty()) verification.write_files(request.folder);
  return report;
}

template <PopulationProtocol P>
Verified verify(const VerifyRequest& request) {
  const AgentCount n = checked_population(request.run.n);
  const auto parameters = resolved_parameters<P>(request.run.settings, n);
  const std::size_t start = start_index(P::info, P::starts, request.run.start);
  accepted_graph(P::info, topology_of<P>, request.run.graph);
  return {report_on(P(parameters, n), network_of(topology_of<P>, request.run, n), start, request),
          values_in_effect(parameters), P::starts[start].name};
}

}  // namespace conclave::catalog
