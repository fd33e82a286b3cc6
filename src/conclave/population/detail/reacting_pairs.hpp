// The pairs of agents whose meeting would change something, counted rank by rank (a dense numbering
// of the occupied states): how many there are, and a random one of them. O(ranks) per change.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "conclave/base/geometric.hpp"
#include "conclave/base/interactions.hpp"
#include "conclave/base/random.hpp"
#include "conclave/model/population.hpp"

namespace conclave::population::detail {

// Pairs are counted with weights, which are 0 or 1 or, for protocols that weigh their pairs
// (detail/reaction.hpp), as large as 2^62 / agents.
class ReactingPairs {
 public:
  using Weight = std::uint32_t;

  struct Pair {
    std::size_t initiator;  // ranks
    std::size_t responder;
  };

  // weight(u, v) is that of a meeting of these ranks; 0: it never changes anything. O(ranks^2).
  template <class WeightOf>
  void count(std::vector<AgentCount> counts, WeightOf weight) {
    counts_ = std::move(counts);
    side_ = counts_.size();
    weights_.assign(side_ * side_, 0);
    partners_.assign(counts_.size(), 0);
    for (std::size_t u = 0; u < counts_.size(); ++u) {
      for (std::size_t v = 0; v < counts_.size(); ++v) {
        weights_[v * side_ + u] = weight(u, v);
        partners_[u] += weights_[v * side_ + u] * counts_[v];
      }
    }
    update_number();
  }

  // No agents, no pairs.
  void clear() {
    count({}, [](std::size_t, std::size_t) { return Weight{0}; });
  }

  // One more rank, without agents yet. O(ranks) amortized.
  template <class WeightOf>
  void add_rank(WeightOf weight) {
    const std::size_t rank = counts_.size();
    if (rank == side_) widen();
    counts_.push_back(0);
    partners_.push_back(0);
    for (std::size_t other = 0; other <= rank; ++other) {
      weights_[rank * side_ + other] = weight(other, rank);
      weights_[other * side_ + rank] = weight(rank, other);
      partners_[rank] += weights_[other * side_ + rank] * counts_[other];
    }
  }

  // Forgets all ranks but these, which come in ascending order and are renumbered; the others have
  // no agents. O(ranks^2).
  void keep(const std::vector<std::size_t>& kept) {
    for (std::size_t v = 0; v < kept.size(); ++v) {
      for (std::size_t u = 0; u < kept.size(); ++u) {
        weights_[v * side_ + u] = weights_[kept[v] * side_ + kept[u]];
      }
      counts_[v] = counts_[kept[v]];
      partners_[v] = partners_[kept[v]];
    }
    counts_.resize(kept.size());
    partners_.resize(kept.size());
  }

  AgentCount agents(std::size_t rank) const { return counts_[rank]; }
  // Ordered pairs of distinct agents, with their weights.
  Interactions number() const { return number_; }

  // `difference` more agents of a rank, fewer if it is the negative of a number, modulo 2^64;
  // `update_number` must follow.
  void change(std::size_t rank, AgentCount difference) {
    const std::size_t ranks = counts_.size();
    counts_[rank] += difference;
    const Weight* weights = &weights_[rank * side_];
    for (std::size_t u = 0; u < ranks; ++u) partners_[u] += weights[u] * difference;
  }
  // An agent goes from one rank to another; `update_number` must follow.
  void move_one(std::size_t from, std::size_t to) {
    --counts_[from];
    ++counts_[to];
    const Weight* less = &weights_[from * side_];
    const Weight* more = &weights_[to * side_];
    AgentCount* partners = partners_.data();
    for (std::size_t u = 0, ranks = counts_.size(); u < ranks; ++u) {
      partners[u] += AgentCount{more[u]} - less[u];  // modulo 2^64
    }
  }

  // Sums up what changed since the last call; to be called before `number` and `pick`. O(ranks).
  void update_number() {
    number_ = Interactions();
    for (std::size_t u = 0; u < counts_.size(); ++u) number_ += pairs_of(u);
  }

  // One of them, by weight.
  Pair pick(Stream& stream) const {
    Interactions pick = below128(stream, number_);
    std::size_t u = 0;
    for (Interactions pairs = pairs_of(0); pick >= pairs; pairs = pairs_of(++u)) pick -= pairs;
    AgentCount partner = stream.below64(partners_of(u));
    std::size_t v = 0;
    for (;; ++v) {
      const AgentCount weight = weights_[v * side_ + u];
      const AgentCount others = weight == 0 ? 0 : weight * (counts_[v] - (u == v ? 1 : 0));
      if (partner < others) return {u, v};
      partner -= others;
    }
  }

 private:
  void widen() {
    const std::size_t side = 2 * side_ + 16;
    std::vector<Weight> wider(side * side);
    for (std::size_t v = 0; v < side_; ++v) {
      std::copy_n(&weights_[v * side_], side_, &wider[v * side]);
    }
    weights_ = std::move(wider);
    side_ = side;
  }

  // With how many others an agent of this rank would react.
  AgentCount partners_of(std::size_t u) const { return partners_[u] - weights_[u * side_ + u]; }
  Interactions pairs_of(std::size_t u) const {
    if (counts_[u] == 0) return {};
    return Interactions(counts_[u]) * Interactions(partners_of(u));
  }

  std::vector<AgentCount> counts_;
  std::vector<Weight> weights_;       // of initiator u and responder v at v * side_ + u
  std::size_t side_ = 0;              // room for this many ranks
  std::vector<AgentCount> partners_;  // of an initiator, itself included if it counts
  Interactions number_;
};

}  // namespace conclave::population::detail
