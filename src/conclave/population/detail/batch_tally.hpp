// Questions that an engine which works in batches has for its tally: which meetings it must be
// notified of one by one, at their time, and how far away the watched event is.
#pragma once

#include <cstdint>
#include <limits>

#include "conclave/model/population.hpp"

namespace conclave::population::detail {

inline constexpr AgentCount never = std::numeric_limits<AgentCount>::max();

// Whether the tally's counts can differ after this meeting. A tally without this function is
// notified of every change.
template <class Tally, class State>
bool is_counted(const Tally& tally, const State& u, const State& v, const State& new_u,
                const State& new_v) {
  if constexpr (requires { tally.is_counted(u, v, new_u, new_v); }) {
    return tally.is_counted(u, v, new_u, new_v);
  } else {
    return !(u == new_u) || !(v == new_v);
  }
}

template <class Tally>
inline constexpr bool has_milestones = requires(const Tally& tally) {
  tally.milestone();
};

// The milestone that these states reach after an interaction; 0 where the tally has none.
template <class Tally, class State>
std::uint8_t milestone_of(const Tally& tally, const State& new_u, const State& new_v) {
  if constexpr (requires { tally.milestone_of(new_u, new_v); }) {
    return tally.milestone_of(new_u, new_v);
  } else {
    return 0;
  }
}

// The last milestone that was reached; 0 where the tally has none.
template <class Tally>
std::uint8_t milestone(const Tally& tally) {
  if constexpr (has_milestones<Tally>) {
    return tally.milestone();
  } else {
    return 0;
  }
}

// At least this many agents must change before the watched event can happen; 0 if the tally does
// not say, or must be notified of every change at its time anyway.
template <class Tally>
AgentCount changes_to_stop(const Tally& tally, Watch watch) {
  if constexpr (requires { tally.changes_to_stop(); }) {
    if (watch == Watch::nothing) return never;
    if (watch == Watch::convergence) return tally.changes_to_stop();
  }
  return 0;
}

}  // namespace conclave::population::detail
