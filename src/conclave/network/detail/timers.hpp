// The timers of all nodes, at most one each, in order of time; those that run out at the same time
// leave in the order in which they were set. O(log n) amortized per timer that is set. A timer that
// was set anew or cancelled stays in the heap until it comes to the top or the heap is cleared of
// such timers, which keeps it below three times the number of nodes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "conclave/network/adversary.hpp"

namespace conclave::network::detail {

class Timers {
 public:
  struct Due {
    Ticks at = 0;
    std::uint64_t number = 0;  // in the order of setting, from 1 on
    NodeIndex node = 0;
  };

  // No timer is set.
  explicit Timers(NodeCount n) : current_(n) {}

  // The node's timer runs out then; one that was set before is forgotten.
  void set(NodeIndex node, Ticks at) {
    if (heap_.size() > 2 * current_.size() + 64) clear_stale();
    current_[node] = ++number_;
    heap_.push_back({at, number_, node});
    std::ranges::push_heap(heap_, later);
  }

  // The node has no timer from now on; nothing happens if it had none. O(1).
  void cancel(NodeIndex node) { current_[node] = 0; }

  // The first timer to run out, or nothing. Valid until the next call of any member.
  const Due* next() {
    while (!heap_.empty() && is_stale(heap_.front())) {
      std::ranges::pop_heap(heap_, later);
      heap_.pop_back();
    }
    return heap_.empty() ? nullptr : &heap_.front();
  }

  // Memory that it takes now.
  std::size_t bytes() const {
    return current_.size() * sizeof(std::uint64_t) + heap_.capacity() * sizeof(Due);
  }

 private:
  static bool later(const Due& left, const Due& right) {
    return left.at != right.at ? left.at > right.at : left.number > right.number;
  }
  bool is_stale(const Due& due) const { return current_[due.node] != due.number; }

  void clear_stale() {
    std::erase_if(heap_, [this](const Due& due) { return is_stale(due); });
    std::ranges::make_heap(heap_, later);
  }

  std::vector<std::uint64_t> current_;  // of each node: the number of its timer; 0: not set
  std::vector<Due> heap_;
  std::uint64_t number_ = 0;
};

// Stands for Timers where a protocol has none.
struct NoTimers {
  explicit NoTimers(NodeCount) {}
  static constexpr std::size_t bytes() { return 0; }
};

}  // namespace conclave::network::detail
