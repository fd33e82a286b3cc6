// The states of all nodes. A node that nothing has happened to yet costs one bit, and memory of its
// own only once some node near it is touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "conclave/network/detail/large_pages.hpp"
#include "conclave/network/ports.hpp"

namespace conclave::network::detail {

template <class P>
class NodeStore {
 public:
  using Node = typename P::Node;

  explicit NodeStore(NodeCount n)
      : n_(n),
        untouched_(n),
        nodes_(LargePages<Node>{}.allocate(n)),  // not initialized
        touched_((n + 63) / 64) {}
  NodeStore(const NodeStore&) = delete;
  NodeStore& operator=(const NodeStore&) = delete;
  ~NodeStore() { LargePages<Node>{}.deallocate(nodes_, n_); }

  NodeCount size() const { return n_; }
  NodeCount untouched() const { return untouched_; }
  bool is_touched(NodeIndex node) const { return (touched_[node / 64] >> node % 64 & 1) != 0; }
  const Node& operator[](NodeIndex node) const { return nodes_[node]; }  // of touched nodes only
  // It may lie on two lines of memory. Inlined by force: GCC 12 drops calls that only prefetch.
  [[gnu::always_inline]] void prefetch(NodeIndex node) const {
    const auto* const bytes = reinterpret_cast<const std::byte*>(nodes_ + node);
    __builtin_prefetch(bytes, 1);
    __builtin_prefetch(bytes + sizeof(Node) - 1, 1);
  }

  // The node, asleep when it is touched for the first time.
  Node& touch(NodeIndex node, const auto& asleep) {
    if (untouched_ > 0 && !is_touched(node)) {
      touched_[node / 64] |= std::uint64_t{1} << node % 64;
      --untouched_;
      std::construct_at(nodes_ + node, asleep(node));
    }
    return nodes_[node];
  }

 private:
  NodeCount n_;
  NodeCount untouched_;
  Node* nodes_;
  std::vector<std::uint64_t> touched_;
};

}  // namespace conclave::network::detail
