// The fresh pairs of a batch, so that it can be seen part way. The order in which they met was
// never drawn and all orders are equally likely, so after some of them had met, those are a
// uniformly random set of that many. Pairs that fared alike, or whose partners were never
// distinguished, form a group, and how many of each group had met has a hypergeometric law.
//
// Halves are split again and again, each by a stream of its own that is named by the half's place.
// So what is seen after k pairs depends on k alone, whatever else is looked at, and what is seen at
// two times fits together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "conclave/base/random.hpp"
#include "conclave/model/population.hpp"
#include "conclave/population/detail/species.hpp"

namespace conclave::population::detail {

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

}  // namespace conclave::population::detail
