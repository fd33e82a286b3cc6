// The ports of the nodes of a graph, for networks that are not complete. A node has a port for
// every neighbour: first, in the order of the graph's arcs, those that messages leave by, then
// those that messages only come in by. An arc that comes twice is one. On the directed ring a node
// sends over port 0 and receives over port 1. Does not change once it is made, so that threads may
// share one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "conclave/base/check.hpp"
#include "conclave/model/graph.hpp"

namespace conclave {

class PortGraph {
 public:
  using Node = std::uint32_t;
  using PortNumber = std::uint32_t;

  // O(arcs log(arcs per node)). 12 bytes per port and 12 per node.
  explicit PortGraph(const Digraph& graph)
      : first_(graph.agents() + 1), leaving_(graph.agents()), met_(graph.agents(), none) {
    for (AgentCount node = 0; node < graph.agents(); ++node) {
      first_[node] = neighbours_.size();
      met_[node] = static_cast<Node>(node);
      add_ports(graph, node, true);
      leaving_[node] = static_cast<std::uint32_t>(neighbours_.size() - first_[node]);
      add_ports(graph, node, false);
    }
    first_.back() = neighbours_.size();
    met_ = {};
    sort_ports();
  }

  std::size_t nodes() const { return leaving_.size(); }
  // How many ports messages leave by; a node's numbers of ports are below this or only lead in.
  std::uint32_t leaving(Node node) const { return leaving_[node]; }
  // The number of all arcs, each counted once.
  std::uint64_t arcs() const {
    std::uint64_t sum = 0;
    for (const std::uint32_t each : leaving_) sum += each;
    return sum;
  }

  // The node at the other end of a port that messages leave by. O(1).
  Node neighbour(Node node, PortNumber port) const {
    CONCLAVE_CHECK(port < leaving_[node]);
    return neighbours_[first_[node] + port];
  }
  // The port of `node` that leads to or from `other`, its neighbour. O(log(neighbours)).
  PortNumber port(Node node, Node other) const {
    const auto begin = sorted_.begin() + static_cast<std::ptrdiff_t>(first_[node]);
    const auto end = sorted_.begin() + static_cast<std::ptrdiff_t>(first_[node + std::size_t{1}]);
    const auto found = std::lower_bound(begin, end, std::pair{other, PortNumber{0}});
    CONCLAVE_CHECK(found != end && found->first == other);
    return found->second;
  }

  // The largest distance from one node to another along arcs; the graph must be strongly connected.
  // O(nodes arcs) for sparse graphs, O(nodes^2) for dense ones.
  std::uint32_t diameter() const {
    std::uint32_t largest = 0;
    std::vector<Node> met(nodes(), none);
    std::vector<Node> reached;
    for (Node start = 0; start < nodes(); ++start) {
      largest = std::max(largest, eccentricity(start, met, reached));
    }
    return largest;
  }

 private:
  static constexpr Node none = 0xffffffff;

  void add_ports(const Digraph& graph, AgentCount node, bool leave) {
    graph.for_each_at(node, [&](Arc arc) {
      const bool leaves = graph.initiator(arc) == node;
      const AgentCount other = leaves ? graph.responder(arc) : graph.initiator(arc);
      if (leaves != leave || met_[other] == node) return;
      met_[other] = static_cast<Node>(node);
      neighbours_.push_back(static_cast<Node>(other));
    });
  }

  // How far it is from `start` to the furthest node. Ends as soon as all are met.
  std::uint32_t eccentricity(Node start, std::vector<Node>& met, std::vector<Node>& reached) const {
    reached.assign(1, start);
    met[start] = start;
    std::uint32_t distance = 0;
    for (std::size_t begin = 0; reached.size() < nodes(); ++distance) {
      const std::size_t end = reached.size();
      CONCLAVE_CHECK(begin < end);
      for (; begin < end && reached.size() < nodes(); ++begin) {
        for (PortNumber port = 0; port < leaving(reached[begin]); ++port) {
          const Node other = neighbour(reached[begin], port);
          if (std::exchange(met[other], start) != start) reached.push_back(other);
        }
      }
    }
    return distance;
  }

  void sort_ports() {
    sorted_.reserve(neighbours_.size());
    for (std::size_t node = 0; node < leaving_.size(); ++node) {
      for (std::size_t place = first_[node]; place < first_[node + 1]; ++place) {
        sorted_.emplace_back(neighbours_[place], static_cast<PortNumber>(place - first_[node]));
      }
      std::sort(sorted_.begin() + static_cast<std::ptrdiff_t>(first_[node]), sorted_.end());
    }
  }

  std::vector<std::size_t> first_;  // where a node's ports begin
  std::vector<std::uint32_t> leaving_;
  std::vector<Node> met_;  // while ports are made: the last node that has each as a neighbour
  std::vector<Node> neighbours_;
  std::vector<std::pair<Node, PortNumber>> sorted_;  // a node's neighbours by number
};

}  // namespace conclave
