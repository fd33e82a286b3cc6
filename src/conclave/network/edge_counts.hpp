// How many messages each edge has carried, both directions together, and the most over one edge.
// Exact. A count is anywhere in memory, so edges are collected, fetched and counted many at a time.
// The table can serve one network after the other: then it need not grow again, and the system need
// not find and clear memory for it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "conclave/network/detail/edge_table.hpp"
#include "conclave/network/ports.hpp"

namespace conclave::network {

class EdgeCounts {
 public:
  // A message passes between two nodes, in either direction. O(1) expected.
  void add(NodeIndex from, NodeIndex to) {
    waiting_[collected_++] = {std::min(from, to), std::max(from, to)};
    if (collected_ == waiting_.size()) count();
  }

  // The most messages that one edge has carried since clear().
  std::uint64_t most() {
    count();
    return most_;
  }

  // Begins anew, in the same memory if about as much will be needed.
  void clear() {
    table_.clear();
    collected_ = 0;
    most_ = 0;
  }

 private:
  struct Edge {
    NodeIndex low;
    NodeIndex high;
  };

  [[gnu::noinline]] void count() {
    for (std::size_t i = 0; i < collected_; ++i) table_.fetch(waiting_[i].low, waiting_[i].high);
    for (std::size_t i = 0; i < collected_; ++i) {
      most_ = std::max(most_, ++table_.at(waiting_[i].low, waiting_[i].high));
    }
    collected_ = 0;
  }

  std::array<Edge, 64> waiting_;
  std::size_t collected_ = 0;
  detail::EdgeTable table_;
  std::uint64_t most_ = 0;
};

}  // namespace conclave::network
