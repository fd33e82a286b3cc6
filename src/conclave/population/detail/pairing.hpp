// Lets many pairs of agents meet at once, knowing only how many agents there are of each rank (a
// dense numbering of the occupied states). Exact in law: the agents are drawn without replacement
// and paired uniformly.
//
// One side of the pairs, the one that changes more, is drawn rank by rank; the other side is left
// open and only its number of agents in an interval of ranks is ever drawn, as far as needed: an
// agent whose fate is the same with every partner of the interval, and whose partner stays as it
// is, is settled. So meetings cost as many random variates as there are differences between states,
// not as there are pairs of states.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "conclave/base/random.hpp"
#include "conclave/model/population.hpp"
#include "conclave/population/detail/batch_record.hpp"
#include "conclave/population/detail/species.hpp"

namespace conclave::population::detail {

// The agents that a batch has not revealed yet, known only by how many there are of each rank (a
// dense numbering of the occupied states). One agent at a time is drawn, exactly uniformly, in O(1)
// expected time.

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

class Pairing {
 public:
  // A number of pairs of these species meet with random outcomes.
  struct RandomMeetings {
    SpeciesId u;
    SpeciesId v;
    AgentCount count;
  };

  // The ranks stand for these species; outcome_of(u, v) is the outcome of a meeting. O(ranks^2).
  template <class OutcomeOf>
  void learn(const std::vector<SpeciesId>& species, OutcomeOf outcome_of) {
    species_ = species;
    std::vector<Outcome> outcomes;
    outcomes.reserve(species.size() * species.size());
    for (const SpeciesId u : species) {
      for (const SpeciesId v : species) outcomes.push_back(outcome_of(u, v));
    }
    choose_side(outcomes);
    find_runs(outcomes);
  }

  // `pairs` pairs are drawn from a pool with these counts, `total` in all, and meet. The result is
  // in `moves` and `random_meetings` until the next call. The pairs in `moves` are added to
  // `groups`, unless it is null.
  void meet(const std::vector<AgentCount>& pool, AgentCount total, AgentCount pairs, Stream& stream,
            PairGroups* groups = nullptr);

  const std::vector<Move>& moves() const { return moves_; }
  const std::vector<RandomMeetings>& random_meetings() const { return random_meetings_; }

  // Random variates drawn by the last call: what it cost.
  std::uint64_t samples() const { return samples_; }

 private:
  using Rank = std::uint32_t;

  struct Cell {
    SpeciesId own;      // what becomes of the agent of the drawn side
    SpeciesId partner;  // what becomes of its partner
    bool is_certain;
  };
  // The end of the interval of partners, from a given one on, with whom the agent's fate is the
  // same, and of the one of those who moreover stay as they are.
  struct Run {
    Rank same_fate_end;
    Rank settled_end;
  };
  // Agents of the drawn side that wait for their partners.
  struct Entry {
    Rank rank;
    AgentCount count;
  };
  // Entries begin ... end of the stack, `number` agents in all, whose partners are drawn from the
  // `population` agents of ranks low ... high - 1.
  struct Block {
    std::size_t begin;
    std::size_t end;
    AgentCount number;
    Rank low;
    Rank high;
    AgentCount population;
  };

  void choose_side(const std::vector<Outcome>& outcomes);
  void find_runs(const std::vector<Outcome>& outcomes);
  void sort_by_count(const std::vector<AgentCount>& pool);
  void draw_one_side(const std::vector<AgentCount>& pool, AgentCount total, AgentCount pairs,
                     Stream& stream);
  void match(Block block, Stream& stream);
  void settle(Block& block);
  bool is_decided(const Block& block) const;
  void finish(const Block& block, Stream& stream);
  void meet_one(const Block& block);
  void spread(const Block& block, Rank partner, AgentCount count, Stream& stream);
  void note_matched(const Block& block);
  Rank split_point(const Block& block) const;
  void move(SpeciesId from, SpeciesId to, AgentCount count) {
    if (from != to && count != 0) moves_.push_back({from, to, count});
  }
  AgentCount draw(AgentCount total, AgentCount marked, AgentCount draws, Stream& stream);

  // Partner by partner, for a block looks at many agents with the same partner.
  std::size_t at(std::size_t own, std::size_t partner) const {
    return partner * species_.size() + own;
  }
  const Cell& cell(Rank own, Rank partner) const { return cells_[at(own, partner)]; }
  const Run& run(Rank own, Rank partner) const { return runs_[at(own, partner)]; }

  std::vector<SpeciesId> species_;
  bool initiators_drawn_ = true;  // which side is drawn rank by rank
  std::vector<Cell> cells_;
  std::vector<Run> runs_;

  std::vector<Rank> by_count_;        // ranks, the most frequent first
  std::vector<AgentCount> partners_;  // of the open side, by rank
  std::vector<AgentCount> up_to_;     // their sums
  std::vector<Entry> stack_;
  std::vector<Move> moves_;
  std::vector<RandomMeetings> random_meetings_;
  PairGroups* groups_ = nullptr;     // where to note the pairs, during a call
  std::vector<Move> open_partners_;  // of a block: whose partners they are was left open
  std::uint64_t samples_ = 0;
};

}  // namespace conclave::population::detail
