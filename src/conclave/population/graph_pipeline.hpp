// The meetings of any digraph.
#pragma once

#include <cstddef>
#include <cstdint>

#include "conclave/base/lanes.hpp"
#include "conclave/model/graph.hpp"
#include "conclave/population/meeting_pipeline.hpp"

namespace conclave::population {

// The arcs of a digraph, independent and uniform over all of them, exactly. The graph must outlive
// the source.
class GraphArcs {
 public:
  explicit GraphArcs(const Digraph& graph) : graph_(&graph) {}
  std::size_t fill(Lanes::State& state, std::uint64_t* meetings, std::size_t words) const {
    const std::size_t count = fill_arcs(state, graph_->arcs(), meetings, words);
    for (std::size_t k = 0; k < count; ++k) {
      const Arc arc = meetings[k] & 0xffffffffu;
      meetings[k] = graph_->initiator(arc) | graph_->responder(arc) << 32;
    }
    return count;
  }

 private:
  const Digraph* graph_;
};

using GraphPipeline = MeetingPipeline<GraphArcs>;

}  // namespace conclave::population
