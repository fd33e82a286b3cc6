// The record of one batch of the `counts` engine, written while it is carried out, so that the
// census can be seen after any part of its interactions. Collisions have their place in the batch.
// Fresh pairs have none: those revealed by a collision get one here, uniform among the places that
// are free at that time, and those drawn together at the end fill the others (pair_groups.hpp). All
// this is drawn from streams of looking, so that the batch itself is the same with and without a
// record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "conclave/base/random.hpp"
#include "conclave/model/population.hpp"
#include "conclave/population/detail/pair_groups.hpp"

namespace conclave::population::detail {

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
