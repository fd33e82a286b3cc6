// The record of the leaders of a ring in the course of a trial.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "conclave/base/interactions.hpp"
#include "conclave/model/population.hpp"

namespace conclave::protocols::detail {

struct LeaderChanges {
  std::uint64_t created = 0;
  std::uint64_t killed = 0;
  std::uint64_t times_leaderless = 0;
  Interactions last_output_change{};

  // Named by the protocol's observables, of which there are four, in the order of the members.
  std::vector<Observation> observations(std::span<const Observable, 4> names) const {
    return {{names[0].name, created},
            {names[1].name, killed},
            {names[2].name, times_leaderless},
            {names[3].name, last_output_change}};
  }
};

}  // namespace conclave::protocols::detail
