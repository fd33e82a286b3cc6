// Engines as a trial sees them. A trial calls its engine a few times per chunk of millions of
// interactions, so it knows engines by virtual functions: it is compiled once, not once per
// protocol and engine.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "conclave/base/interactions.hpp"
#include "conclave/model/clock.hpp"
#include "conclave/model/fault.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/starting_census.hpp"
#include "conclave/model/trial.hpp"
#include "conclave/population/agent_memory.hpp"
#include "conclave/population/agent_table.hpp"

namespace conclave::population {

// Between two chunks the caller may stop the trial; small enough for a prompt answer (some tenths
// of a second where an interaction takes a microsecond), large enough to cost nothing. Results do
// not depend on it.
inline constexpr std::uint64_t interactions_per_chunk = std::uint64_t{1} << 18;

// The functions mean what they mean in PopulationEngine and HoldingEngine (model/population.hpp).
// For one thread at a time.
class TrialEngine : public TrialView {
 public:
  virtual ~TrialEngine() = default;
  // One that goes on exactly as this one does, the state of its generators included, in memory of
  // its own: the protocol must outlive it, but no workspace. O(agents), or O(states met) where they
  // are counted. Null if the engine cannot be copied.
  virtual std::unique_ptr<TrialEngine> copy() const = 0;
  // The clock of an engine whose times follow from its course (Clock::learns); null for others.
  virtual std::unique_ptr<Clock> own_clock() { return nullptr; }
  // Advances by a chunk, but not beyond the budget, after which the trial is to be sampled; it goes
  // on up to `horizon` interactions from now, the next at which something is done to it.
  virtual void advance_a_chunk(Interactions budget, Interactions horizon) = 0;
  virtual void watch(Watch what) = 0;
  virtual bool has_stopped() const = 0;
  virtual AgentCount size() const = 0;
  virtual Interactions now() const = 0;
  virtual bool converged() const = 0;
  virtual bool hopeless() const = 0;
  // The states that some agent is in, in their order; O(n) where agents are stored one by one.
  virtual std::vector<NamedCount> census() const = 0;
  // The configuration: runs of equal agents in their order where it matters who is who. Takes
  // seconds where agents are many: `keep_going`, unless it is null, is called now and then, and
  // Interrupted is thrown if it returns false.
  virtual std::vector<NamedCount> agents(const KeepGoing* keep_going) const = 0;
  std::vector<NamedCount> agents() const { return agents(nullptr); }
  // Outputs and variables as numbers; O(n) where agents are stored one by one.
  virtual AgentTable table() const = 0;
  // Does not change the trial.
  virtual NextMeeting next_meeting() = 0;
  // The steps of the pseudocode that the interaction of `next_meeting` executes (model/steps.hpp),
  // by the names of their lines; left alone where the engine does not know who meets. They are in
  // `steps`, which must live as long, at the latest when the interaction has been simulated.
  virtual void note_next(std::vector<std::string>& steps) = 0;
  // Returns how many agents the fault has hit.
  virtual AgentCount strike(const Fault& fault) = 0;
  // Interactions that the engine did not jump over; 0 if it never jumps.
  virtual std::uint64_t effective_interactions() const = 0;
  // False for engines whose protocols do not measure it; then `hold` must not be called.
  virtual bool measures_holding() const = 0;
  virtual void hold() = 0;
  virtual bool violated() const = 0;
};

// Runs of agents in words. Not inlined: compiled once per protocol, not once per engine.
// `keep_going` may be null; throws Interrupted if it returns false.
template <class P>
[[gnu::noinline]] std::vector<NamedCount> named(const P& protocol,
                                                const Census<typename P::State>& runs,
                                                const KeepGoing* keep_going = nullptr) {
  std::vector<NamedCount> result;
  for (const auto& [state, count] : runs) {
    ask_to_go_on(keep_going, result.size());
    result.push_back({name_of_state(protocol, state), count});
  }
  return result;
}

// A census in words, in the order of its states.
template <class P>
[[gnu::noinline]] std::vector<NamedCount> named_in_order(const P& protocol,
                                                         Census<typename P::State> census,
                                                         const KeepGoing* keep_going = nullptr) {
  sort_by_state(census);
  return named(protocol, census, keep_going);
}

// The functions of an engine behind those of TrialEngine. Owns the engine, which is made from the
// arguments; what they refer to must outlive it. With a reference type, refers to the engine.
template <class E>
  requires PopulationEngine<std::remove_reference_t<E>>
class TrialEngineOf final : public TrialEngine {
 public:
  template <class... Arguments>
  explicit TrialEngineOf(Arguments&&... arguments)
      : engine_(std::forward<Arguments>(arguments)...) {}

  // The engine itself, as long as this lives.
  E& engine() { return engine_; }
  const E& engine() const { return engine_; }

  std::unique_ptr<TrialEngine> copy() const override { return exact_copy(); }
  // The same with its type.
  std::unique_ptr<TrialEngineOf> exact_copy() const {
    constexpr bool is_owner = !std::is_reference_v<E>;
    if constexpr (is_owner && std::constructible_from<E, const E&, AgentMemory&>) {
      return std::unique_ptr<TrialEngineOf>(new TrialEngineOf(InOwnMemory{}, engine_));
    } else if constexpr (is_owner && std::copy_constructible<E>) {
      return std::make_unique<TrialEngineOf>(engine_);
    } else {
      return nullptr;
    }
  }

  void advance_a_chunk(Interactions budget, Interactions horizon) override {
    if constexpr (requires { engine_.advance(budget, interactions_per_chunk, horizon); }) {
      engine_.advance(budget, interactions_per_chunk, horizon);
    } else if constexpr (requires { engine_.advance(budget, interactions_per_chunk); }) {
      engine_.advance(budget, interactions_per_chunk);  // those it need not do one by one are free
    } else {
      engine_.advance(std::min<Interactions>(interactions_per_chunk, budget));
    }
  }
  void watch(Watch what) override { engine_.watch(what); }
  bool has_stopped() const override { return engine_.has_stopped(); }
  AgentCount size() const override { return engine_.size(); }
  Interactions now() const override { return engine_.now(); }
  AgentCount leaders() const override { return engine_.leaders(); }
  bool converged() const override { return engine_.converged(); }
  bool hopeless() const override { return engine_.hopeless(); }
  std::vector<Observation> observations() const override { return engine_.observations(); }
  std::vector<NamedCount> census() const override {
    if constexpr (requires { engine_.named_census(); }) {
      return engine_.named_census();
    } else if constexpr (requires { engine_.census(); }) {
      return named_in_order(engine_.protocol(), engine_.census());
    } else {
      return {};
    }
  }
  std::vector<NamedCount> agents(const KeepGoing* keep_going) const override {
    if constexpr (requires { engine_.runs(); }) {
      return named(engine_.protocol(), engine_.runs(), keep_going);
    } else if constexpr (requires { engine_.named_census(keep_going); }) {
      return engine_.named_census(keep_going);
    } else if constexpr (requires { engine_.census(keep_going); }) {
      return named_in_order(engine_.protocol(), engine_.census(keep_going), keep_going);
    } else {
      return census();
    }
  }
  AgentTable table() const override {
    if constexpr (requires { engine_.table(); }) {
      return engine_.table();
    } else {
      return table_of(engine_);
    }
  }
  NextMeeting next_meeting() override {
    if constexpr (requires { engine_.next_meeting(); }) return engine_.next_meeting();
    return {engine_.now() + 1u};
  }
  void note_next(std::vector<std::string>& steps) override {
    if constexpr (requires { engine_.note_next(steps); }) engine_.note_next(steps);
  }
  AgentCount strike(const Fault& fault) override {
    // One that runs as a part of another one leaves faults to that.
    if constexpr (requires { engine_.strike(fault); }) return engine_.strike(fault);
    return 0;
  }
  std::uint64_t effective_interactions() const override {
    if constexpr (requires { engine_.effective_interactions(); }) {
      return engine_.effective_interactions();
    } else {
      return 0;
    }
  }
  bool measures_holding() const override {
    if constexpr (HoldingEngine<std::remove_reference_t<E>>) return engine_.measures_holding();
    return false;
  }
  void hold() override {
    if constexpr (HoldingEngine<std::remove_reference_t<E>>) engine_.hold();
  }
  bool violated() const override {
    if constexpr (HoldingEngine<std::remove_reference_t<E>>) return engine_.violated();
    return false;
  }

 private:
  struct InOwnMemory {};
  TrialEngineOf(InOwnMemory, const E& other) : engine_(other, memory_) {}

  AgentMemory memory_;  // of a copy
  E engine_;
};

}  // namespace conclave::population
