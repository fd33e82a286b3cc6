// A trial that stands somewhere between its start and its end: an engine, ready to be advanced and
// looked at, with the clock of its protocol. A planned trial (run.hpp) is run from one to its end;
// whoever wants to step through a trial keeps one.
#pragma once

#include <memory>
#include <utility>

#include "conclave/model/clock.hpp"
#include "conclave/model/population.hpp"
#include "conclave/population/run.hpp"

namespace conclave::population {

class LiveTrial {
 public:
  virtual ~LiveTrial() = default;
  virtual TrialEngine& engine() = 0;
  // Of a protocol with a time of its own; null for parallel time.
  virtual Clock* clock() = 0;
};

// Owns the engine, which is made from the arguments; what they refer to must outlive it.
template <PopulationEngine E>
class LiveTrialOf final : public LiveTrial {
 public:
  template <class... Arguments>
  explicit LiveTrialOf(std::unique_ptr<Clock> clock, Arguments&&... arguments)
      : clock_(std::move(clock)), engine_(std::forward<Arguments>(arguments)...), seen_(engine_) {}

  TrialEngine& engine() override { return seen_; }
  Clock* clock() override { return clock_.get(); }

 private:
  std::unique_ptr<Clock> clock_;
  E engine_;
  AsTrialEngine<E> seen_;
};

}  // namespace conclave::population
