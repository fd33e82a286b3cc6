// A trial that stands somewhere between its start and its end: an engine, ready to be advanced and
// looked at, with the clock of its protocol. A planned trial (run.hpp) is run from one to its end;
// whoever wants to step through a trial keeps one.
#pragma once

#include <concepts>
#include <memory>
#include <utility>

#include "conclave/model/clock.hpp"
#include "conclave/model/population.hpp"
#include "conclave/population/agent_memory.hpp"
#include "conclave/population/run.hpp"

namespace conclave::population {

class LiveTrial {
 public:
  virtual ~LiveTrial() = default;
  TrialEngine& engine() { return engine_; }
  // The clock of a protocol that measures time its own way; null for parallel time.
  Clock* clock() { return clock_.get(); }
  // One that goes on exactly as this one does, the state of its generators included, in memory of
  // its own: the same run must outlive it, and no workspace. O(agents), or O(states met) where they
  // are counted. Null if the engine cannot be copied.
  virtual std::unique_ptr<LiveTrial> copy() const = 0;

 protected:
  // The engine belongs to the object itself.
  LiveTrial(std::unique_ptr<Clock> clock, TrialEngine& engine)
      : clock_(std::move(clock)), engine_(engine) {}

  std::unique_ptr<Clock> copied_clock() const { return clock_ ? clock_->copy() : nullptr; }

 private:
  std::unique_ptr<Clock> clock_;
  TrialEngine& engine_;
};

// Owns the engine, which is made from the arguments; what they refer to must outlive it.
template <PopulationEngine E>
class LiveTrialOf final : public LiveTrial {
 public:
  template <class... Arguments>
  explicit LiveTrialOf(std::unique_ptr<Clock> clock, Arguments&&... arguments)
      : LiveTrial(std::move(clock), seen_),
        engine_(std::forward<Arguments>(arguments)...),
        seen_(engine_) {}

  struct Copy {};
  LiveTrialOf(Copy, const LiveTrialOf& other)
      : LiveTrial(other.copied_clock(), seen_),
        engine_(copied(other.engine_, memory_)),
        seen_(engine_) {}

  E& exact_engine() { return engine_; }
  const E& exact_engine() const { return engine_; }
  std::unique_ptr<LiveTrial> copy() const override {
    if constexpr (can_be_copied) return std::make_unique<LiveTrialOf>(Copy{}, *this);
    return nullptr;
  }

 private:
  static constexpr bool needs_memory = std::constructible_from<E, const E&, AgentMemory&>;
  static constexpr bool can_be_copied = needs_memory || std::copy_constructible<E>;

  static E copied(const E& engine, AgentMemory& memory) {
    if constexpr (needs_memory) {
      return E(engine, memory);
    } else {
      return E(engine);
    }
  }

  AgentMemory memory_;  // of a copy
  E engine_;
  AsTrialEngine<E> seen_;
};

}  // namespace conclave::population
