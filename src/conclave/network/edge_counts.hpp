// How many messages each edge has carried, both directions together, and the most over one edge.
// Exact. A count is anywhere in memory, so edges are collected, fetched and counted many at a time.
// The table can serve one network after the other: then it need not grow again, and the system need
// not find and clear memory for it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "conclave/base/large_pages.hpp"
#include "conclave/model/message.hpp"
#include "conclave/network/ports.hpp"

namespace conclave::network::detail {

// A number for each edge that has one. Open addressing; nothing is stored for the other edges.

class EdgeTable {
 public:
  // The number of the edge from one node to another, 0 at first. When the table is full, edges
  // whose numbers `is_over` are forgotten before it grows.
  std::uint64_t& at(NodeIndex from, NodeIndex to, const auto& is_over) {
    if (4 * used_ >= 3 * slots_.size()) make_room(is_over);
    const std::uint64_t key = key_of(from, to);
    Slot& slot = slot_of(key);
    if (slot.key == 0) {
      slot.key = key;
      ++used_;
    }
    return slot.value;
  }
  std::uint64_t& at(NodeIndex from, NodeIndex to) {
    return at(from, to, [](std::uint64_t) { return false; });
  }

  // `at` of this edge will be asked for soon. Inlined by force: GCC 12 drops calls that only
  // prefetch.
  [[gnu::always_inline]] void fetch(NodeIndex from, NodeIndex to) const {
    if (slots_.empty()) return;
    __builtin_prefetch(&slots_[mixed(0, key_of(from, to)) & (slots_.size() - 1)], 1);
  }

  // The number of an edge, 0 if it has none.
  std::uint64_t find(NodeIndex from, NodeIndex to) const {
    return slots_.empty() ? 0 : slots_[place_for(key_of(from, to))].value;
  }

  // Forgets all edges. It keeps its memory unless little of it was used: to clear that would take
  // longer than to grow again.
  void clear() {
    if (8 * used_ < slots_.size()) Slots().swap(slots_);
    std::ranges::fill(slots_, Slot{});
    used_ = 0;
  }

  // Memory that it takes now.
  std::size_t bytes() const { return slots_.capacity() * sizeof(Slot); }

 private:
  struct Slot {
    std::uint64_t key = 0;  // 0: free
    std::uint64_t value = 0;
  };

  using Slots = std::vector<Slot, LargePages<Slot>>;

  static std::uint64_t key_of(NodeIndex from, NodeIndex to) {
    return (std::uint64_t{from} << 32 | to) + 1;
  }
  Slot& slot_of(std::uint64_t key) { return slots_[place_for(key)]; }

  // Where the key is, or a free slot.
  std::size_t place_for(std::uint64_t key) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t place = mixed(0, key) & mask;
    while (slots_[place].key != 0 && slots_[place].key != key) place = (place + 1) & mask;
    return place;
  }

  void make_room(const auto& is_over) {
    std::size_t kept = 0;
    for (const Slot& slot : slots_) kept += slot.key != 0 && !is_over(slot.value) ? 1 : 0;
    Slots old(std::bit_ceil(2 * kept + 64));
    old.swap(slots_);
    used_ = kept;
    for (const Slot& slot : old) {
      if (slot.key != 0 && !is_over(slot.value)) slot_of(slot.key) = slot;
    }
  }

  Slots slots_;
  std::size_t used_ = 0;
};

}  // namespace conclave::network::detail

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
