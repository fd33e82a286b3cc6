// Joins one protocol with the exact module. A generated source includes this once per protocol,
// with the protocol's file of lemmas where there is one.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "conclave/base/error.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/catalog/resolve.hpp"
#include "conclave/exact/network.hpp"
#include "conclave/exact/verifier.hpp"
#include "conclave/model/oracle.hpp"

namespace conclave::catalog {

// The network on which the agents of a request meet. The request must have passed accepted_graph
// for a protocol of this topology. Throws Error above 2^20 agents.
inline exact::Network exact_network(Topology topology, const RunRequest& request, AgentCount n) {
  if (topology == Topology::directed_ring) return exact::Network::directed_ring(n);
  if (request.graph.empty() || !request.digraph) return exact::Network::complete(n);
  return exact::Network::of(*request.digraph);
}

// Throws Error if agents ask an oracle that errs: what it says then depends on the past. One that
// is right from some interaction on is covered all the same, where every configuration is a start.
template <PopulationProtocol P>
void refuse_erring_oracle(const P& protocol) {
  if constexpr (AsksOracle<P>) {
    if (protocol.oracle().kind() == LeaderOracle::Kind::immediate) return;
    throw Error("verify needs oracle=immediate: an oracle that errs goes by the past, not by the "
                "configuration alone");
  }
}

// The answer to a request of Entry::verify; throws what that throws.
template <PopulationProtocol P>
Verified verify(const VerifyRequest& request) {
  const AgentCount n = checked_population(request.run.n);
  const auto parameters = resolved_parameters<P>(request.run.settings, n);
  const std::size_t start = start_index(P::info, P::starts, request.run.start);
  accepted_graph(P::info, topology_of<P>, request.run.graph);
  const P protocol(parameters, n);
  refuse_erring_oracle(protocol);
  exact::Verifier<P> verification(protocol, exact_network(topology_of<P>, request.run, n),
                                  request.options, start);
  return {verification.run(), values_in_effect(parameters), P::starts[start].name};
}

}  // namespace conclave::catalog
