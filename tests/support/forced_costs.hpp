// Costs that force the `counts` engine into one of its ways to simulate. None may change a law.
#pragma once

#include "conclave/population/counts.hpp"

namespace conclave::tests {

// Batches that end only when they must: nearly all interactions among few agents are collisions.
struct EndlessBatches : population::CountsCosts {
  static constexpr double batch = 1e9;
  static constexpr double sample = 0;
  static constexpr double learning = 0;
  static constexpr double jump = 1e30;
};

// About sqrt(n) interactions in a batch, drawn all together.
struct DrawnTogether : population::CountsCosts {
  static constexpr double batch = 120;
  static constexpr double sample = 0;
  static constexpr double learning = 0;
  static constexpr double jump = 1e30;
};

// Twice as many, and each fresh pair drawn by itself; short ones where something may happen.
struct DrawnOneByOne : population::CountsCosts {
  static constexpr double batch = 480;
  static constexpr double sample = 1e30;
  static constexpr double revealed = 1e30;
  static constexpr double jump = 1e300;
};

// A batch for each interaction.
struct SingleInteractions : population::CountsCosts {
  static constexpr double batch = 0;
  static constexpr double sample = 0;
  static constexpr double learning = 0;
  static constexpr double revealed = 1e30;
  static constexpr double jump = 1e30;
};

// Jumps from one interaction that changes something to the next.
struct AlwaysJumps : population::CountsCosts {
  static constexpr double batch = 0;
  static constexpr double learning = 0;
  static constexpr double jump = 0;
  static constexpr double jump_per_rank = 0;
};

// Goes back and forth between batches and jumps.
struct Wavers : population::CountsCosts {
  static constexpr double batch = 100;
  static constexpr double sample = 1;
  static constexpr double learning = 0;
  static constexpr double jump = 150;
  static constexpr double jump_per_rank = 0;
};

// Calls check.operator()<Costs>(name) for all of them and for the engine's own costs.
template <class Check>
void for_all_costs(Check check) {
  check.template operator()<population::CountsCosts>("default costs");
  check.template operator()<EndlessBatches>("endless batches");
  check.template operator()<DrawnTogether>("drawn together");
  check.template operator()<DrawnOneByOne>("drawn one by one");
  check.template operator()<SingleInteractions>("single interactions");
  check.template operator()<AlwaysJumps>("always jumps");
  check.template operator()<Wavers>("wavers");
}

}  // namespace conclave::tests
