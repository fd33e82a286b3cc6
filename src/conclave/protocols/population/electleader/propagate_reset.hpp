// PropagateReset (Protocols 4, 5, 6), after Burman et al., PODC 2021: a triggered agent makes all
// agents resetters by epidemic; all fall dormant, and the first to wake up wakes the others.
#pragma once

#include <cstdint>

#include "conclave/protocols/population/detail/propagate_reset.hpp"
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
  void interact(Agent& u, Agent& v) const { protocols::detail::propagate_reset(*this, u, v); }

  // For detail::propagate_reset.
  static bool is_resetting(const Agent& u) { return u.is(Duty::resetting); }
  static std::uint32_t& count(Agent& u) { return u.resetter.count; }
  static std::uint32_t& delay(Agent& u) { return u.resetter.delay; }
  void recruit(Agent& u) const { u = resetter(0, constants_.delay, u.coins); }
  std::uint32_t full_delay() const { return constants_.delay; }
  bool sleeps_below_zero() const { return constants_.reading == Reading::negative_delay; }

 private:
  Constants constants_;
};

}  // namespace conclave::protocols::electleader
