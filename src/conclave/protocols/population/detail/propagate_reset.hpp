// Propagate-Reset of Burman et al. (PODC 2021, Protocol 2), which ElectLeader_r takes over as its
// Protocol 4: a triggered agent makes all agents resetters by epidemic; all fall dormant, and the
// first to wake up wakes the others. Line numbers are those of ElectLeader_r's paper.
//
// A protocol that resets gives: is_resetting(agent); count(agent) and delay(agent), its resetCount
// and delayTimer; recruit(agent), which makes it a resetter with count 0; reset(agent), with which
// it wakes up; full_delay(), D_max; sleeps_below_zero(), whether line 9 is taken as it is printed.
#pragma once

#include <algorithm>
#include <cstdint>

namespace conclave::protocols::detail {

// Lines 5-11 for the agent i that meets j; `fell`: its resetCount just became 0.
template <class Protocol, class Agent>
constexpr void wait_or_wake(const Protocol& protocol, Agent& i, const Agent& j, bool fell) {
  if (!protocol.is_resetting(i) || protocol.count(i) > 0) return;
  const bool is_stuck = protocol.sleeps_below_zero() && protocol.delay(i) == 0;
  if (fell) {
    protocol.delay(i) = protocol.full_delay();  // lines 6-7
  } else if (protocol.delay(i) > 0) {
    --protocol.delay(i);  // line 9, which as printed would go below 0
  }
  const bool expires = protocol.delay(i) == 0 && !is_stuck;
  if (expires || !protocol.is_resetting(j)) protocol.reset(i);  // lines 10-11
}

// The interaction of u, a resetter, with v, whichever of them initiates it.
template <class Protocol, class Agent>
constexpr void propagate_reset(const Protocol& protocol, Agent& u, Agent& v) {
  bool u_fell = false;
  bool v_fell = false;
  if (protocol.count(u) > 0 && !protocol.is_resetting(v)) {  // lines 1-2
    protocol.recruit(v);
    v_fell = true;
  }
  if (protocol.is_resetting(v)) {  // lines 3-4
    const std::uint32_t largest = std::max(protocol.count(u), protocol.count(v));
    const std::uint32_t count = largest > 0 ? largest - 1 : 0;
    u_fell = protocol.count(u) > 0 && count == 0;
    v_fell = (v_fell || protocol.count(v) > 0) && count == 0;
    protocol.count(u) = protocol.count(v) = count;
  }
  wait_or_wake(protocol, u, v, u_fell);  // line 5: one after the other; if one wakes up, so does
  wait_or_wake(protocol, v, u, v_fell);  // the other
}

}  // namespace conclave::protocols::detail
