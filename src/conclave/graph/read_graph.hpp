// Graphs in files: a line "INITIATOR RESPONDER" per arc, agents numbered from 0.
#pragma once

#include <string>
#include <vector>

#include "conclave/model/graph.hpp"

namespace conclave::graph {

using Arcs = std::vector<Digraph::Pair>;

// The arcs among n agents. Throws Error with the line if the file cannot be understood.
Arcs arcs_in_file(const std::string& path, AgentCount n);

}  // namespace conclave::graph
