// The messages sent so far: how many of each kind, the time of the last sending, the size of the
// largest and, if asked for, the most over one edge. Exact.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "conclave/model/trial.hpp"
#include "conclave/network/adversary.hpp"
#include "conclave/network/edge_counts.hpp"

namespace conclave::network::detail {

template <class P>
class Accounts {
 public:
  // `edges`: counts of a network before this one, whose memory is used again; may be null.
  Accounts(bool counts_edges, EdgeCounts* edges)
      : counts_edges_(counts_edges), edges_(edges != nullptr ? *edges : own_edges_) {
    edges_.clear();
  }
  Accounts(const Accounts&) = delete;
  Accounts& operator=(const Accounts&) = delete;

  bool counts_edges() const { return counts_edges_; }
  Ticks last_sending() const { return last_sending_; }
  std::uint32_t largest_bits() const { return largest_bits_; }
  std::uint64_t messages() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t count : by_kind_) sum += count;
    return sum;
  }

  void sent(Ticks now, typename P::Kind kind, std::uint32_t bits, std::uint64_t count) {
    by_kind_[static_cast<std::size_t>(kind)] += count;
    last_sending_ = now;
    largest_bits_ = std::max(largest_bits_, bits);
  }
  void on_edge(NodeIndex from, NodeIndex to) { edges_.add(from, to); }

  NetworkOutcome outcome() {
    NetworkOutcome result;
    for (std::size_t kind = 0; kind < P::kinds.size(); ++kind) {
      result.by_kind.push_back({P::kinds[kind], by_kind_[kind]});
    }
    if (counts_edges_) result.most_on_an_edge = edges_.most();
    return result;
  }

 private:
  bool counts_edges_;
  std::array<std::uint64_t, P::kinds.size()> by_kind_{};
  Ticks last_sending_ = 0;
  std::uint32_t largest_bits_ = 0;
  EdgeCounts own_edges_;
  EdgeCounts& edges_;
};

}  // namespace conclave::network::detail
