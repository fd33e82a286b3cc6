// One trial of any engine: advance in chunks until it ends.
#pragma once

#include <algorithm>
#include <cstdint>

#include "conclave/base/interactions.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/trial.hpp"

namespace conclave::population {

// Between two chunks the caller may stop the trial; small enough for a prompt answer (a few
// hundredths of a second), large enough to cost nothing. Results do not depend on it.
inline constexpr std::uint64_t interactions_per_chunk = std::uint64_t{1} << 22;

template <PopulationEngine E>
Ending run(E& engine, Interactions limit, const KeepGoing& keep_going) {
  while (!engine.converged()) {
    if (engine.hopeless()) return Ending::hopeless;
    if (engine.now() >= limit) return Ending::limit;
    engine.advance(std::min<Interactions>(interactions_per_chunk, limit - engine.now()));
    if (!keep_going(engine.now())) {
      if (!engine.converged()) return Ending::interrupted;
    }
  }
  return Ending::converged;
}

}  // namespace conclave::population
