#include "conclave/catalog/make_verifier.hpp"

namespace conclave::catalog {

exact::Network exact_network(Topology topology, const RunRequest& request, AgentCount n) {
  if (topology == Topology::directed_ring) return exact::Network::directed_ring(n);
  if (request.graph.empty() || !request.digraph) return exact::Network::complete(n);
  return exact::Network::of(*request.digraph);
}

}  // namespace conclave::catalog
