#include "conclave/catalog/network_graph.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"

namespace conclave::catalog {
namespace {

using Arcs = std::vector<Digraph::Pair>;

constexpr NodeCount most_in_stored_complete = 5000;
constexpr NodeCount most_on_ring = 100'000'000;

Digraph::Pair arc(NodeCount from, NodeCount to) {
  return {static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to)};
}

Digraph ring(NodeCount n, bool both_ways) {
  Arcs arcs;
  for (NodeCount node = 0; node < n && n > 1; ++node) {
    arcs.push_back(arc(node, (node + 1) % n));
    if (both_ways) arcs.push_back(arc(node, (node + n - 1) % n));
  }
  return {n, std::move(arcs)};
}

Digraph complete(NodeCount n) {
  Arcs arcs;
  for (NodeCount node = 0; node < n; ++node) {
    for (NodeCount step = 1; step < n; ++step) arcs.push_back(arc(node, (node + step) % n));
  }
  return {n, std::move(arcs)};
}

void check_size(const ProtocolInfo& info, std::string_view graph, NodeCount n, NodeCount most) {
  if (n <= most) return;
  throw Error(fmt::format("n = {} is too large for {} on a {} graph: at most {} nodes", n,
                          info.name, graph, most));
}

}  // namespace

std::string_view own_graph(Topology topology) {
  if (topology == Topology::directed_ring) return "ring";
  return topology == Topology::undirected_ring ? "undirected-ring" : "complete";
}

std::string accepted_network(const ProtocolInfo& info, Topology topology,
                             const std::string& graph) {
  const std::string_view own = own_graph(topology);
  if (graph.empty() || graph == own) return {};
  if (topology == Topology::any) return graph;
  if (topology == Topology::complete) {
    throw Error(fmt::format("{} is made for complete networks", info.name));
  }
  throw Error(fmt::format("{} is made for {} rings: --graph {}, not '{}'", info.name,
                          topology == Topology::directed_ring ? "directed" : "undirected", own,
                          graph));
}

std::shared_ptr<const PortGraph> port_graph(const ProtocolInfo& info, Topology topology,
                                            const std::string& graph, const Digraph* digraph,
                                            NodeCount n) {
  const std::string accepted = accepted_network(info, topology, graph);
  if (topology == Topology::complete) return nullptr;
  if (!accepted.empty()) {
    if (digraph == nullptr) throw Error(fmt::format("the graph '{}' is missing", graph));
    return std::make_shared<const PortGraph>(*digraph);
  }
  const std::string_view own = own_graph(topology);
  if (topology == Topology::any) {
    check_size(info, own, n, most_in_stored_complete);
    return std::make_shared<const PortGraph>(complete(n));
  }
  check_size(info, own, n, most_on_ring);
  return std::make_shared<const PortGraph>(ring(n, topology == Topology::undirected_ring));
}

std::uint64_t diameter_of(const ProtocolInfo& info, const PortGraph* graph) {
  constexpr std::size_t most = 20'000;
  if (graph == nullptr) return 1;
  if (graph->nodes() <= most) return graph->diameter();
  throw Error(fmt::format("{} needs --param diameter=D for more than {} nodes", info.name, most));
}

}  // namespace conclave::catalog
