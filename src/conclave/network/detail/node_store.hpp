// The states of all nodes. A node that nothing has happened to yet costs one bit, and memory of its
// own only once some node near it is touched.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "conclave/network/ports.hpp"

namespace conclave::network {

// Zeroed pages that the system provides when they are touched, large ones if it can.
class Pages {
 public:
  explicit Pages(std::size_t bytes) : bytes_(bytes) {
    void* const place =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) throw std::bad_alloc();
    madvise(place, bytes, MADV_HUGEPAGE);
    data_ = static_cast<std::byte*>(place);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { munmap(data_, bytes_); }

  std::byte* data() const { return data_; }

 private:
  std::byte* data_;
  std::size_t bytes_;
};

template <class P>
class NodeStore {
 public:
  using Node = typename P::Node;

  explicit NodeStore(NodeCount n)
      : n_(n),
        untouched_(n),
        pages_(n * sizeof(Node)),
        nodes_(reinterpret_cast<Node*>(pages_.data())),
        touched_((n + 63) / 64) {}

  NodeCount size() const { return n_; }
  NodeCount untouched() const { return untouched_; }
  bool is_touched(NodeIndex node) const { return (touched_[node / 64] >> node % 64 & 1) != 0; }
  const Node& operator[](NodeIndex node) const { return nodes_[node]; }
  void prefetch(NodeIndex node) const {  // it may lie on two cache lines
    const auto* const bytes = reinterpret_cast<const std::byte*>(nodes_ + node);
    __builtin_prefetch(bytes, 1);
    __builtin_prefetch(bytes + sizeof(Node) - 1, 1);
  }

  // The node, asleep when it is touched for the first time.
  Node& touch(NodeIndex node, const auto& asleep) {
    if (!is_touched(node)) {
      touched_[node / 64] |= std::uint64_t{1} << node % 64;
      --untouched_;
      std::construct_at(nodes_ + node, asleep(node));
    }
    return nodes_[node];
  }

 private:
  NodeCount n_;
  NodeCount untouched_;
  Pages pages_;
  Node* nodes_;
  std::vector<std::uint64_t> touched_;
};

}  // namespace conclave::network
