// The record of one batch of the `counts` engine, written while it is carried out, so that the
// census can be seen after any part of its interactions. Collisions have their place in the batch.
// Fresh pairs have none: those revealed by a collision get one here, uniform among the places that
// are free at that time, and those drawn together at the end fill the others (PairGroups). All
// this is drawn from streams of looking, so that the batch itself is the same with and without a
// record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "conclave/base/random.hpp"
#include "conclave/model/population.hpp"
#include "conclave/population/detail/species.hpp"

namespace conclave::population::detail {

// The fresh pairs of a batch, so that it can be seen part way. The order in which they met was
// never drawn and all orders are equally likely, so after some of them had met, those are a
// uniformly random set of that many. Pairs that fared alike, or whose partners were never
// distinguished, form a group, and how many of each group had met has a hypergeometric law.
//
// Halves are split again and again, each by a stream of its own that is named by the half's place.
// So what is seen after k pairs depends on k alone, whatever else is looked at, and what is seen at
// two times fits together.

// A number of agents change from one species to another.
struct Move {
  SpeciesId from = 0;
  SpeciesId to = 0;
  AgentCount count = 0;
};

class PairGroups {
 public:
  void clear() {
    groups_.clear();
    moves_.clear();
    pairs_ = 0;
  }

  // Adds pairs whose two sides change as given; the counts of the moves are not used.
  void add(AgentCount pairs, Move one, Move other);

  // Begins a group of pairs that are matched uniformly. Then come all agents of one side that
  // change, and all of the other; agents that do not change may be left out.
  void begin(AgentCount pairs);
  void add_to_one_side(const Move& move);
  void add_to_other_side(const Move& move);

  AgentCount pairs() const { return pairs_; }

  // The changes made by the first `pairs` of `all` pairs; pairs beyond the groups changed nothing.
  // `salt` names the streams. O(moves) variates per halving, and at most 64 halvings.
  std::vector<Move> first(AgentCount pairs, AgentCount all, std::uint64_t salt) const;

 private:
  // The moves of a group are those from `begin` on, up to the next group's.
  struct Group {
    AgentCount pairs;
    std::size_t begin;
    std::size_t middle;  // where the other side begins
  };

  std::size_t end_of(std::size_t group) const {
    return group + 1 < groups_.size() ? groups_[group + 1].begin : moves_.size();
  }
  PairGroups take(AgentCount pairs, AgentCount all, Stream& stream);
  void take_side(std::size_t begin, std::size_t end, AgentCount pairs, AgentCount all,
                 std::vector<Move>& taken, Stream& stream);

  std::vector<Group> groups_;
  std::vector<Move> moves_;
  AgentCount pairs_ = 0;
};

class BatchRecord {
 public:
  // Two agents of known species that met as the interaction with this number of the batch.
  struct Step {
    std::uint64_t number;
    SpeciesId u, v, new_u, new_v;
    bool is_collision;
  };

  // Forgets everything; `name` is that of this batch.
  void begin(const StreamName& name);

  // The number of a collision; numbers grow.
  void add_collision(const Step& step);
  // A fresh pair that met before the interaction with this number. Expected time O(1) while most
  // interactions are fresh.
  void add_revealed(std::uint64_t before, Step step);
  // Pairs that are drawn at the end.
  PairGroups& fresh() { return fresh_; }

  // The changes made by the first `done` of `length` interactions.
  std::vector<Move> changes(std::uint64_t done, std::uint64_t length) const;
  const std::vector<Step>& steps() const { return steps_; }

 private:
  std::uint64_t salt_ = 0;
  Stream places_{StreamName{}};
  std::vector<Step> steps_;
  std::unordered_set<std::uint64_t> taken_;
  PairGroups fresh_;
};

}  // namespace conclave::population::detail
