// The live candidate ahead of all others, known at any moment: a heap of positions that are looked
// at again when they come to the top. A candidate's position only rises until it retires.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "conclave/model/message.hpp"
#include "conclave/network/ports.hpp"

namespace conclave::network::detail {

class FrontRunner {
 public:
  void saw(NodeIndex node, const NodeView& view) {
    if (view.standing != Standing::candidate) return;
    heap_.push_back({view, node});
    std::ranges::push_heap(heap_, behind);
  }

  // `view_of` tells what has become of a node.
  std::optional<NodeIndex> find(const auto& view_of) {
    while (!heap_.empty()) {
      const Seen& top = heap_.front();
      const NodeView now = view_of(top.node);
      if (now.standing == Standing::candidate && now.phase == top.view.phase) return top.node;
      std::ranges::pop_heap(heap_, behind);
      heap_.pop_back();
    }
    return std::nullopt;
  }

 private:
  struct Seen {
    NodeView view;
    NodeIndex node;
  };
  static bool behind(const Seen& left, const Seen& right) {
    return is_ahead(right.view, left.view);
  }

  std::vector<Seen> heap_;
};

}  // namespace conclave::network::detail
