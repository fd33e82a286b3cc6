// The clock of a trial of a network of reactions: its interactions are the ticks of a Poisson
// process, independent of what happens at them (text/uniformized.hpp).
#pragma once

#include <memory>

#include "conclave/base/interactions.hpp"
#include "conclave/base/numbers.hpp"
#include "conclave/base/poisson_clock.hpp"
#include "conclave/base/random.hpp"
#include "conclave/model/clock.hpp"

namespace conclave::text {

// The continuous time of the trial with this name; equal names have equal times. Times are rounded
// to doubles.
class ReactionClock final : public Clock {
 public:
  ReactionClock(const StreamName& name, double ticks_per_time) : ticks_(name, ticks_per_time) {}

  Interactions interactions_at(const Fraction& time) override {
    const Interactions ticks = ticks_.points_before(time.as_double());
    return ticks < PoissonClock::most_points ? ticks : Interactions::max();
  }
  // Precondition: at most PoissonClock::most_points interactions.
  double time_after(Interactions interactions) override { return ticks_.time_of(interactions); }
  std::unique_ptr<Clock> copy() const override { return std::make_unique<ReactionClock>(*this); }

 private:
  PoissonClock ticks_;
};

}  // namespace conclave::text
