// Which port of a node leads to which other node. In complete networks nothing is stored: a mapping
// is computed, both ways; in others the graph gives it. It is fixed before the first coin is tossed
// and depends on no coin, as the model wants it.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "conclave/base/mixed.hpp"
#include "conclave/base/random.hpp"
#include "conclave/model/message.hpp"
#include "conclave/model/port_graph.hpp"

namespace conclave::network {

// A random-looking permutation of 0 ... size-1 that costs two words of memory: a Feistel network on
// the next even number of bits, walked along its cycles until it is back in range. Keys give
// unrelated permutations. It stands for a random permutation that would take O(size) memory; it is
// not one drawn uniformly from all, of which there are too many to name by a key.

// A word that depends on all bits of both.
constexpr std::uint64_t mixed(std::uint64_t key, std::uint64_t value) {
  return conclave::mixed(key + 0x9e3779b97f4a7c15u * (value + 1));
}

// A permutation that is computed, not stored.
class Permutation {
 public:
  // Permutes 0 ... size - 1; equal keys give equal permutations. O(1), without a table.
  Permutation(std::uint64_t size, std::uint64_t key)
      : size_(size),
        key_(key),
        half_((static_cast<unsigned>(std::bit_width(size > 1 ? size - 1 : 1)) + 1) / 2) {}

  // Expected O(1): at least a quarter of the Feistel network's domain is in range.
  std::uint64_t operator()(std::uint64_t value) const {
    do value = forward(value);
    while (value >= size_);
    return value;
  }

  // The number that is mapped to this one. Expected O(1).
  std::uint64_t inverse(std::uint64_t value) const {
    do value = backward(value);
    while (value >= size_);
    return value;
  }

 private:
  static constexpr unsigned rounds = 6;

  std::uint64_t round_word(unsigned round, std::uint64_t half) const {
    return mixed(key_ ^ round * 0xd1342543de82ef95u, half) >> (64 - half_);
  }

  std::uint64_t forward(std::uint64_t value) const {
    std::uint64_t left = value >> half_;
    std::uint64_t right = value & ((std::uint64_t{1} << half_) - 1);
    for (unsigned round = 0; round < rounds; ++round) {
      const std::uint64_t next = left ^ round_word(round, right);
      left = right;
      right = next;
    }
    return left << half_ | right;
  }

  std::uint64_t backward(std::uint64_t value) const {
    std::uint64_t left = value >> half_;
    std::uint64_t right = value & ((std::uint64_t{1} << half_) - 1);
    for (unsigned round = rounds; round-- > 0;) {
      const std::uint64_t previous = right ^ round_word(round, left);
      right = left;
      left = previous;
    }
    return left << half_ | right;
  }

  std::uint64_t size_;
  std::uint64_t key_;
  unsigned half_;
};

// A permutation drawn uniformly from all. O(size) to make, 4 bytes per element, of which there are
// fewer than 2^32.
class Shuffle {
 public:
  // The same stream gives the same permutation; size < 2^32.
  Shuffle(std::uint64_t size, const StreamName& name) : places_(size) {
    std::iota(places_.begin(), places_.end(), 0u);
    Stream stream(name);
    for (std::size_t left = places_.size(); left > 1; --left) {
      std::swap(places_[left - 1], places_[stream.below(static_cast<std::uint32_t>(left))]);
    }
  }

  // Where a number is mapped to. O(1).
  std::uint64_t operator()(std::uint64_t value) const { return places_[value]; }

 private:
  std::vector<std::uint32_t> places_;
};

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
  // Mappings are drawn from the stream of ports; nothing is stored per node.
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
