// Agents that nobody has looked at yet, known only by how many there are of each rank (a dense
// numbering of the occupied states). One agent at a time is drawn, exactly uniformly, in O(1).
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
    at_start_.clear();
    total_ = 0;
    for (const AgentCount count : counts) total_ += count;
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

  std::size_t scan(Stream& stream) const {
    AgentCount pick = stream.below64(total_);
    std::size_t rank = 0;
    for (; pick >= counts_[rank]; ++rank) pick -= counts_[rank];
    return rank;
  }

  // Draws from the agents there were when the table was made, until it is one that is still here;
  // a table is made anew when half of them are gone.
  std::size_t look_up(Stream& stream) {
    if (at_start_.empty() || 2 * total_ < total_at_start_) make_table();
    for (;;) {
      const auto bucket = static_cast<std::size_t>(stream.below64(counts_.size()));
      const bool is_own = stream.below64(total_at_start_) < threshold_[bucket];
      const std::size_t rank = is_own ? bucket : alias_[bucket];
      if (counts_[rank] == at_start_[rank]) return rank;
      if (stream.below64(at_start_[rank]) < counts_[rank]) return rank;
    }
  }

  // Walker's alias table in whole numbers, so that it is exact: each bucket holds total_ units,
  // an agent weighs as many units as there are ranks.
  void make_table();

  std::vector<AgentCount> counts_;
  AgentCount total_ = 0;

  std::vector<AgentCount> at_start_;
  AgentCount total_at_start_ = 0;
  std::vector<AgentCount> threshold_;
  std::vector<std::uint32_t> alias_;
};

}  // namespace conclave::population::detail
