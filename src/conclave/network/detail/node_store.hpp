// The states of all nodes. A node that nothing has happened to yet costs one bit, and memory of its
// own only once some node near it is touched.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "conclave/base/large_pages.hpp"
#include "conclave/network/ports.hpp"

namespace conclave::network::detail {

template <class P>
class NodeStore {
 public:
  using Node = typename P::Node;

  // All nodes are untouched. Does not write to the memory of the nodes.
  explicit NodeStore(NodeCount n)
      : n_(n),
        untouched_(n),
        places_(LargePages<Place>{}.allocate(n)),  // not initialized
        touched_((n + 63) / 64) {}
  NodeStore(const NodeStore&) = delete;
  NodeStore& operator=(const NodeStore&) = delete;
  ~NodeStore() { LargePages<Place>{}.deallocate(places_, n_); }

  // Nodes in all, and those that nothing has happened to.
  NodeCount size() const { return n_; }
  NodeCount untouched() const { return untouched_; }
  // Whether something has happened to the node, and its state if so.
  bool is_touched(NodeIndex node) const { return (touched_[node / 64] >> node % 64 & 1) != 0; }
  const Node& operator[](NodeIndex node) const {
    return places_[node].node;  // of touched nodes only
  }
  // Inlined by force: GCC 12 drops calls that only prefetch.
  [[gnu::always_inline]] void prefetch(NodeIndex node) const {
    const auto* const bytes = reinterpret_cast<const std::byte*>(places_ + node);
    __builtin_prefetch(bytes, 1);
    if constexpr (!fits_line) __builtin_prefetch(bytes + sizeof(Node) - 1, 1);
  }
  // Memory of all nodes, touched or not.
  std::size_t bytes() const { return n_ * sizeof(Place) + touched_.size() * sizeof(touched_[0]); }

  // The node, asleep when it is touched for the first time.
  Node& touch(NodeIndex node, const auto& asleep) {
    if (untouched_ > 0 && !is_touched(node)) {
      touched_[node / 64] |= std::uint64_t{1} << node % 64;
      --untouched_;
      std::construct_at(&places_[node].node, asleep(node));
    }
    return places_[node].node;
  }

 private:
  // Nodes that nearly fill a line of memory, or a half or a quarter of one, get all of it, so that
  // they lie on one line instead of two.
  static constexpr std::size_t share = std::bit_ceil(sizeof(Node));
  static constexpr bool fits_line = share <= 64 && 4 * share <= 5 * sizeof(Node);
  struct alignas(fits_line ? share : alignof(Node)) Place {
    Node node;
  };

  NodeCount n_;
  NodeCount untouched_;
  Place* places_;
  std::vector<std::uint64_t> touched_;
};

}  // namespace conclave::network::detail
