// The agents that a batch has not revealed yet, known only by how many there are of each rank (a
// dense numbering of the occupied states). One agent at a time is drawn, exactly uniformly, in O(1)
// expected time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "conclave/base/random.hpp"
#include "conclave/model/population.hpp"

namespace conclave::population::detail {

class Pool {
 public:
  // Starts anew with these agents.
  void fill(const std::vector<AgentCount>& counts) {
    counts_ = counts;
    total_ = 0;
    bool is_within = counts.size() == most_.size();
    for (std::size_t rank = 0; rank < counts.size(); ++rank) {
      total_ += counts[rank];
      is_within = is_within && counts[rank] <= most_[rank];
    }
    if (!is_within) most_.clear();
  }

  AgentCount total() const { return total_; }
  AgentCount count(std::size_t rank) const { return counts_[rank]; }
  const std::vector<AgentCount>& counts() const { return counts_; }

  // Takes all agents of a rank; returns how many.
  AgentCount take_all(std::size_t rank) {
    const AgentCount count = counts_[rank];
    total_ -= count;
    counts_[rank] = 0;
    return count;
  }

  // Takes a random agent and returns its rank.
  std::size_t take_one(Stream& stream) {
    const std::size_t rank = counts_.size() <= few ? scan(stream) : look_up(stream);
    --counts_[rank];
    --total_;
    return rank;
  }

 private:
  static constexpr std::size_t few = 12;  // below, walking along the counts is faster

  // Always to the end: leaving the loop early would cost a mispredicted branch.
  std::size_t scan(Stream& stream) const {
    const AgentCount pick = stream.below64(total_);
    AgentCount up_to = 0;
    std::size_t rank = 0;
    for (std::size_t next = 0; next + 1 < counts_.size(); ++next) {
      up_to += counts_[next];
      rank += pick >= up_to ? 1 : 0;
    }
    return rank;
  }

  // Draws from a population with somewhat more agents of each rank, until it is one that is here.
  // So one table serves many pools, until there are too many agents of some rank, or too few in
  // all.
  std::size_t look_up(Stream& stream) {
    if (most_.empty() || 2 * total_ < most_in_all_) make_table();
    for (;;) {
      const auto bucket = static_cast<std::size_t>(stream.below64(counts_.size()));
      const bool is_own = stream.below64(most_in_all_) < threshold_[bucket];
      const std::size_t rank = is_own ? bucket : alias_[bucket];
      if (stream.below64(most_[rank]) < counts_[rank]) return rank;
    }
  }

  // Walker's alias table in whole numbers, so that it is exact: each bucket holds most_in_all_
  // units, an agent weighs as many units as there are ranks.
  void make_table();

  std::vector<AgentCount> counts_;
  AgentCount total_ = 0;

  std::vector<AgentCount> most_;  // of each rank, in the population of the table; or no table
  AgentCount most_in_all_ = 0;
  std::vector<AgentCount> threshold_;
  std::vector<std::uint32_t> alias_;
};

}  // namespace conclave::population::detail
