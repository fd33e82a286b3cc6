// The parts of the result of a run: the messages sent, counted while it runs, and the nodes,
// counted once it has come to rest.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "conclave/model/message.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/trial.hpp"
#include "conclave/network/adversary.hpp"
#include "conclave/network/edge_counts.hpp"

namespace conclave::network::detail {

// The nodes of a network that has come to rest. add() must be called for every node that has been
// awake.
class NodesAtRest {
 public:
  // Whether the protocol's parameters ask for its candidates by phase.
  NodesAtRest(NodeCount n, bool is_watched) : n_(n), is_watched_(is_watched) {}

  // Counts a node; `is_settled`: it knows all that the problem asks it to know.
  void add(const NodeView& node, bool is_settled);

  // The result without times and observations. `outcome` knows the messages, of which there were so
  // many.
  TrialResult result(NetworkOutcome outcome, std::uint64_t messages) const;
  // Adds the observations: those of every network, the protocol's own, and the candidates by phase.
  void observe(std::uint64_t candidates, std::uint64_t largest_bits, std::vector<Observation> own,
               TrialResult& result) const;

 private:
  NodeCount n_;
  bool is_watched_;
  std::uint64_t elected_ = 0;
  std::uint64_t informed_ = 0;
  std::uint64_t settled_ = 0;
  std::uint32_t last_phase_ = 0;
  std::vector<std::uint64_t> ended_in_;  // nodes by the last phase that they have begun
};

// The messages sent so far: how many of each kind, the time of the last sending, the size of the
// largest and, if asked for, the most over one edge. Exact.
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

  // Whether on_edge() must be called for every message; the time of the last sending; the size of
  // the largest message in bits.
  bool counts_edges() const { return counts_edges_; }
  Ticks last_sending() const { return last_sending_; }
  std::uint32_t largest_bits() const { return largest_bits_; }
  // The messages of all kinds.
  std::uint64_t messages() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t count : by_kind_) sum += count;
    return sum;
  }

  // `count` copies of a message of this kind and size are sent now.
  void sent(Ticks now, typename P::Kind kind, std::uint32_t bits, std::uint64_t count) {
    by_kind_[static_cast<std::size_t>(kind)] += count;
    last_sending_ = now;
    largest_bits_ = std::max(largest_bits_, bits);
  }
  void on_edge(NodeIndex from, NodeIndex to) { edges_.add(from, to); }

  // The counts as they are stored with the trial. O(kinds).
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
