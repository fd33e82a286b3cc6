// When is time t? Engines count interactions; users speak of times. A clock joins the two: a trial
// that is to be seen at certain times, or to end at one, asks its clock for the number of
// interactions at which to look next, and an engine never hears of time.
//
// In a population protocol n interactions are one unit of parallel time, so the clock is a product.
// In a network of reactions time is continuous: the number of interactions up to a time is random
// (Poisson), and so is the time of an interaction (Gamma). Such a network brings a clock of its
// own, which draws them from a stream of its own, and gives it to population::Trial; the grid,
// the horizon, histories and rows then work as they are.
#pragma once

#include <memory>

#include "conclave/base/interactions.hpp"
#include "conclave/base/numbers.hpp"
#include "conclave/model/population.hpp"

namespace conclave {

// The clock of one trial, which belongs to one thread. Its answers are consistent: equal queries
// get equal answers, whatever was queried in between, and later times come after no fewer
// interactions.
class Clock {
 public:
  virtual ~Clock() = default;
  // How many interactions have happened at this time; Interactions::max() if too many to count.
  virtual Interactions interactions_at(const Fraction& time) = 0;
  // The time at which the interaction with this number happens; 0 for 0.
  virtual double time_after(Interactions interactions) = 0;
  // Whether times become known only as the trial goes on (interactions_at is then max() for a time
  // to come, at which the engine pauses once): networks whose rates follow from their course.
  virtual bool learns() const { return false; }
  // One that has the same answers.
  virtual std::unique_ptr<Clock> copy() const = 0;
};

// Interactions per agent. Exact: floor(t n) interactions have happened at time t.
class ParallelClock final : public Clock {
 public:
  explicit ParallelClock(AgentCount n) : n_(n) {}

  Interactions interactions_at(const Fraction& time) override {
    const Interactions whole = time.numerator / time.denominator;
    const Interactions rest = time.numerator % time.denominator;
    if (whole > (Interactions::max() - n_) / n_) return Interactions::max();
    return whole * n_ + rest * n_ / time.denominator;
  }
  double time_after(Interactions interactions) override {
    return interactions.as_double() / static_cast<double>(n_);
  }
  std::unique_ptr<Clock> copy() const override { return std::make_unique<ParallelClock>(*this); }

 private:
  AgentCount n_;
};

}  // namespace conclave
