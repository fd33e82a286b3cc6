// The graphs that message passing protocols run on: complete networks, rings of their own, and
// those that `--graph` names.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "conclave/model/message.hpp"
#include "conclave/model/port_graph.hpp"
#include "conclave/model/protocol_info.hpp"

namespace conclave::catalog {

// The graph of a topology unless the user names another, in the words of --graph.
std::string_view own_graph(Topology topology);

// The graph's name, where a protocol of this topology can run on it; empty for its own. Throws
// Error if it cannot.
std::string accepted_network(const ProtocolInfo& info, Topology topology, const std::string& graph);

// The ports of n nodes on that graph; `digraph` is the graph of that name, null for a complete one
// and where none is named. Null for protocols that are made for complete networks, which need none.
// Throws Error if the protocol cannot run on it, or if a complete network has too many edges to be
// stored.
std::shared_ptr<const PortGraph> port_graph(const ProtocolInfo& info, Topology topology,
                                            const std::string& graph, const Digraph* digraph,
                                            NodeCount n);

// The graph's diameter, 1 of a complete one that is not stored (null); for protocols that know it.
// Throws Error if computing it would take too long.
std::uint64_t diameter_of(const ProtocolInfo& info, const PortGraph* graph);

// Parameters with a `diameter` that is not given get the graph's.
template <class Parameters>
Parameters with_diameter(const ProtocolInfo& info, Parameters parameters, const PortGraph* graph) {
  if constexpr (requires { parameters.diameter; }) {
    if (!parameters.diameter) parameters.diameter = diameter_of(info, graph);
  }
  return parameters;
}

}  // namespace conclave::catalog
