// The values of `--graph`: generators, and files that list edges.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "conclave/model/graph.hpp"

namespace conclave::graph {

// "complete" gives no graph (every pair is an arc); otherwise "ring", "undirected-ring",
// "grid:RxC", "regular:D", "gnp:P" or "file:PATH". Random graphs follow from the seed. Throws Error
// with one sentence if the text makes no sense, does not fit n, or the graph is not strongly
// connected.
std::shared_ptr<const Digraph> make_graph(const std::string& text, AgentCount n,
                                          std::uint64_t seed);

}  // namespace conclave::graph
