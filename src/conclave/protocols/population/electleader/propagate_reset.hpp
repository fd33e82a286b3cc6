// PropagateReset (Protocols 4, 5, 6), after Burman et al., PODC 2021: a triggered agent makes
// everybody a resetter by epidemic; all fall dormant, and the first to wake up wakes the others.
#pragma once

#include <algorithm>
#include <cstdint>

#include "conclave/protocols/population/electleader/agent.hpp"

namespace conclave::protocols::electleader {

class PropagateReset {
 public:
  explicit PropagateReset(const Constants& constants) : constants_(constants) {}

  // Protocol 5.
  void trigger(Agent& u) const { u = resetter(constants_.reset_count, constants_.delay, u.coins); }

  // Protocol 6: the clean state of AssignRanks_r.
  void reset(Agent& u) const {
    u = {.duty = Duty::ranking, .coins = u.coins};
    u.ranker.countdown = constants_.countdown;
  }

  // Protocol 4; u is a resetter.
  void interact(Agent& u, Agent& v) const {
    bool u_fell = false;  // its resetCount just became 0
    bool v_fell = false;
    if (u.resetter.count > 0 && !v.is(Duty::resetting)) {  // lines 1-2
      v = resetter(0, constants_.delay, v.coins);
      v_fell = true;
    }
    if (v.is(Duty::resetting)) {  // lines 3-4
      const std::uint32_t largest = std::max(u.resetter.count, v.resetter.count);
      const std::uint32_t count = largest > 0 ? largest - 1 : 0;
      u_fell = u.resetter.count > 0 && count == 0;
      v_fell = (v_fell || v.resetter.count > 0) && count == 0;
      u.resetter.count = v.resetter.count = count;
    }
    wait_or_wake(u, v, u_fell);  // line 5
    wait_or_wake(v, u, v_fell);
  }

 private:
  // Lines 5-11, one after the other for both agents: if one wakes up, so does the other.
  void wait_or_wake(Agent& i, const Agent& j, bool fell) const {
    if (!i.is(Duty::resetting) || i.resetter.count > 0) return;
    const bool is_stuck = constants_.reading == Reading::negative_delay && i.resetter.delay == 0;
    if (fell) {
      i.resetter.delay = constants_.delay;  // lines 6-7
    } else if (i.resetter.delay > 0) {
      --i.resetter.delay;  // line 9, which as printed would go below 0 (erratum 4)
    }
    const bool expires = i.resetter.delay == 0 && !is_stuck;
    if (expires || !j.is(Duty::resetting)) reset(i);  // lines 10-11
  }

  Constants constants_;
};

}  // namespace conclave::protocols::electleader
