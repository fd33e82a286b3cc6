// Sleeping nodes in random order, for adversaries that wake fresh ones.
#pragma once

#include <optional>

#include "conclave/network/adversary.hpp"

namespace conclave::network {

class Sleepers {
 public:
  Sleepers(NodeCount n, const StreamName& name)
      : n_(n), order_(n, Stream(name.with(Purpose::wakeup)).word()) {}

  // A node that still sleeps, or nothing if all are awake. O(n) for all calls together.
  std::optional<NodeIndex> next(const NetworkView& view) {
    while (seen_ < n_ && view.asleep() > 0) {
      const auto node = static_cast<NodeIndex>(order_(seen_++));
      if (view.node(node).standing == Standing::asleep) return node;
    }
    return std::nullopt;
  }

  // The first node of the order, for before any is awake.
  NodeIndex first() { return static_cast<NodeIndex>(order_(seen_++)); }

 private:
  NodeCount n_;
  Permutation order_;
  NodeCount seen_ = 0;
};

}  // namespace conclave::network
