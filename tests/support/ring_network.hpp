// The ring as a network with ports: node i sends to node i + 1, and to node i - 1 where messages go
// both ways.
#pragma once

#include <cstdint>
#include <vector>

#include "conclave/model/graph.hpp"
#include "conclave/model/port_graph.hpp"

namespace conclave::tests {

inline PortGraph ring(std::uint32_t n, bool both_ways) {
  std::vector<Digraph::Pair> arcs;
  for (std::uint32_t i = 0; i < n; ++i) {
    arcs.emplace_back(i, (i + 1) % n);
    if (both_ways) arcs.emplace_back(i, (i + n - 1) % n);
  }
  return PortGraph(Digraph(n, arcs));
}

}  // namespace conclave::tests
