// Which port of a node leads to which other node. In complete networks nothing is stored: a mapping
// is computed, both ways; in others the graph gives it. It is fixed before the first coin is tossed
// and depends on no coin, as the model wants it.
#pragma once

#include <cstdint>

#include "conclave/base/random.hpp"
#include "conclave/model/message.hpp"
#include "conclave/model/port_graph.hpp"
#include "conclave/network/permutation.hpp"

namespace conclave::network {

using NodeIndex = std::uint32_t;

// Port p of node u leads p + 1 nodes further. Of port-blind protocols this gives the same law as
// any other mapping: a uniformly drawn set of ports is a uniformly drawn set of neighbours, and
// nothing else is done with ports than to answer and to compare.
class RotatedPorts {
 public:
  RotatedPorts(NodeCount n, const StreamName&) : n_(static_cast<NodeIndex>(n)) {}

  // The node that a port leads to. O(1).
  NodeIndex neighbour(NodeIndex node, Port port) const {
    const NodeCount sum = NodeCount{node} + 1 + port;
    return static_cast<NodeIndex>(sum < n_ ? sum : sum - n_);
  }
  // The port of `node` that leads to `other`.
  Port port(NodeIndex node, NodeIndex other) const {
    const NodeIndex around = 0u - (other > node ? 0u : 1u);  // a branch would be mispredicted
    return other - node - 1 + (n_ & around);
  }

 private:
  NodeIndex n_;
};

// For protocols that use ports in an order of their own: an unrelated permutation at every node.
class ScatteredPorts {
 public:
  ScatteredPorts(NodeCount n, const StreamName& name)
      : neighbours_(n - 1), key_(Stream(name.with(Purpose::port)).word()) {}

  // The node that a port leads to, and the port that leads to a node. Expected O(1).
  NodeIndex neighbour(NodeIndex node, Port port) const {
    const std::uint64_t other = permutation(node)(port);
    return static_cast<NodeIndex>(other + (other >= node ? 1 : 0));
  }
  // The port of `node` that leads to `other`.
  Port port(NodeIndex node, NodeIndex other) const {
    return static_cast<Port>(permutation(node).inverse(other - (other > node ? 1u : 0u)));
  }

 private:
  Permutation permutation(NodeIndex node) const { return {neighbours_, mixed(key_, node)}; }

  std::uint64_t neighbours_;
  std::uint64_t key_;
};

// The ports of a graph, which must outlive it.
class GraphPorts {
 public:
  explicit GraphPorts(const PortGraph* graph) : graph_(graph) {}

  // The node that a port leads to, and the port that leads to a neighbour.
  NodeIndex neighbour(NodeIndex node, Port port) const { return graph_->neighbour(node, port); }
  Port port(NodeIndex node, NodeIndex other) const { return graph_->port(node, other); }
  // Messages leave by the ports below this.
  std::uint32_t leaving(NodeIndex node) const { return graph_->leaving(node); }

 private:
  const PortGraph* graph_;
};

}  // namespace conclave::network
