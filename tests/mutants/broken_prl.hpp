// prl with one line wrong, so that one of its lemmas fails.
#pragma once

#include <cstdint>

#include "conclave/protocols/population/lemmas/prl.hpp"

namespace conclave::tests {

enum class PrlFlaw : std::uint8_t {
  none,
  distance_moves_under_bullets,  // line 2 also for an agent with a bullet
  live_without_shield,           // line 7 makes no shield
  bullets_pass_signals,          // line 15 leaves the signal
  never_creates,                 // no lines 3-5
};

class BrokenPrl : public protocols::Prl {
 public:
  using Prl = protocols::Prl;
  using Prl::Prl;
  BrokenPrl(const Prl& prl, PrlFlaw flaw) : Prl(prl), flaw_(flaw) {}

  void interact(State& l, State& r, Choice auto& choice) const {
    const State old_l = l;
    const State old_r = r;
    Prl::interact(l, r, choice);
    if (flaw_ == PrlFlaw::distance_moves_under_bullets && !r.leader && r.bullet != Bullet::none) {
      r.distance = l.distance;
    }
    if (flaw_ == PrlFlaw::live_without_shield && old_l.leader && old_l.signal) l.shield = false;
    if (flaw_ == PrlFlaw::bullets_pass_signals && !r.leader) r.signal = old_r.signal;
    if (flaw_ == PrlFlaw::never_creates && !old_r.leader && r.leader) r = old_r;
  }

 private:
  PrlFlaw flaw_ = PrlFlaw::none;
};

inline Claims<protocols::Prl::State> claims_of(const BrokenPrl& protocol) {
  return claims_of(static_cast<const protocols::Prl&>(protocol));
}

}  // namespace conclave::tests
