// One trial of any engine that can be advanced, sampled, struck by faults, copied, and asked for
// its result. All that runs trials holds one: the runner takes it to its end in one piece, the
// explorer and Python's Simulation go on by pieces of any length.
//
//   Trial trial(std::move(engine), plan);
//   trial.advance_to(5000u, keep_going);  // pauses there; trial.engine() is what it looks like
//   trial.advance_to_end(keep_going);
//   std::move(trial).result();
//
// Where it pauses never changes a trial: the result is that of the trial run in one piece, bit for
// bit. Times are exact: the convergence, the faults and the samples are at the interactions that
// the plan requests, whatever the engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "conclave/base/interactions.hpp"
#include "conclave/model/clock.hpp"
#include "conclave/model/fault.hpp"
#include "conclave/model/trace.hpp"
#include "conclave/model/trial.hpp"
#include "conclave/population/agent_table.hpp"
#include "conclave/population/trial_engine.hpp"

namespace conclave::population {

// For one thread at a time.
class Trial {
 public:
  // Why an advance came to its end.
  enum class Pause : std::uint8_t {
    reached,      // the requested interaction
    stopped,      // the protocol has converged, or can never do so any more
    interrupted,  // keep_going returned false
  };

  // From where the engine stands. The plan must outlive the trial and its copies. The times of the
  // plan are those of the clock; without one, parallel times.
  Trial(std::unique_ptr<TrialEngine> engine, const TrialPlan& plan,
        std::unique_ptr<Clock> clock = nullptr);
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  // Simulates up to this many interactions from the start, also beyond the end of the plan, which
  // then does not change the result any more. If it `stops`, no further than to the next
  // convergence, and no interaction if that is now. `keep_going` is called between chunks and
  // during the last census.
  Pause advance_to(Interactions time, const KeepGoing& keep_going, bool stops = false);
  // Simulates to the end of the plan, unless `keep_going` returns false before.
  void advance_to_end(const KeepGoing& keep_going);
  // Simulates up to and including the next interaction that changes an agent, and returns it; at
  // most this many, and nothing if none of them did. Compares the tables of the engine: O(n) per
  // interaction where agents are stored one by one.
  std::optional<NextMeeting> advance_to_change(Interactions most, const KeepGoing& keep_going);

  // The trial as it is now.
  TrialEngine& engine() { return *engine_; }
  const TrialEngine& engine() const { return *engine_; }
  Interactions now() const { return engine_->now(); }
  // Measures parallel time, unless the protocol has a clock of its own.
  Clock& clock() { return clock_ ? *clock_ : parallel_; }

  bool is_over() const { return at_.phase == Phase::over; }
  // Whether the engine watches for convergence; false once it has gone on after one.
  bool is_seeking() const { return at_.watch == Watch::convergence; }
  // Makes it watch again, as an advance that stops does by itself. This is part of the course of a
  // trial: what follows has the same law, but may be another sample.
  void seek_again();
  // When it first converged, as far as it has come.
  std::optional<Interactions> first_convergence() const { return at_.first_convergence; }
  // Until the trial is over, only the faults that have struck so far are final.
  const TrialResult& result() const& { return at_.result; }
  // The result; if the trial is not over, that of a trial that was interrupted here.
  TrialResult result() &&;

  // Strikes now; returns how many agents it has hit. Exact in law, also in the middle of a batch.
  AgentCount strike(const Fault& fault);

  // From now on, `steps` are noted. It costs a look at the next interaction per advance.
  void follow_steps() { follows_steps_ = true; }
  // The steps of the pseudocode that the last interaction executed, by the names of their lines
  // (ProtocolInfo::steps; of a protocol file, the lines of its rules). Known where the trial was
  // advanced to that interaction from the one before, or from the last that changed something.
  const std::vector<std::string>& steps() const { return steps_; }

  // One that goes on exactly as this one does, in memory of its own; it follows no steps. Null if
  // the engine cannot be copied.
  std::unique_ptr<Trial> copy() const;

 private:
  // Each can be resumed where it was left: it asks the engine how far it is.
  enum class Phase : std::uint8_t {
    seeking,  // convergence, through the faults that come before it
    lasting,  // whether it lasts as long as it must
    faults,   // passes the time to the next fault after convergence
    horizon,  // all faults have struck: on to the time at which the trial ends
    holding,  // how long what was elected lasts
    final_census,
    over,
  };

  // All that a copy takes over, beside the engine and the clock.
  struct Course {
    LookTimes samples;
    Interactions until;         // max(): the trial runs to its convergence
    std::vector<bool> waiting;  // faults still to come
    Phase phase = Phase::seeking;
    Watch watch = Watch::convergence;
    bool has_ended_once = false;  // the first search for convergence is over
    Interactions held_from{};     // the beginning of `lasting` and of `holding`
    std::optional<Interactions> first_convergence{};
    std::map<std::string, std::uint32_t> numbers{};  // of the names in the history
    Interactions last_kept{};
    TrialResult result{};
  };

  void prepare_advance(Interactions pause, const KeepGoing& keep_going);
  void go_on();
  void watch(Watch what);
  void report();
  bool is_at_horizon() const { return now() >= at_.until; }
  bool advance_engine(Interactions time);
  bool pass_time(Interactions end);
  void seek();
  void refresh_times();
  void see_whether_it_lasts();
  void end_seeking(Ending ending);
  void note_convergence();
  void await_fault();
  void end_faults();
  void run_to_horizon();
  void hold();
  void finish();
  void take_final_census();
  void go_on_after_end();
  std::optional<std::pair<Interactions, std::size_t>> next_fault() const;
  Interactions after(double parallel_time) const;
  void strike_as_planned(std::size_t index);
  void sample();
  void keep_samples(Interactions now);
  void keep_census(double time);

  std::unique_ptr<TrialEngine> engine_;
  const TrialPlan& plan_;
  ParallelClock parallel_;
  std::unique_ptr<Clock> clock_;  // null: parallel time
  Course at_;
  bool follows_steps_ = false;
  std::vector<std::string> steps_;
  bool stops_ = false;                     // the call that is going on, at a convergence
  bool is_paused_ = false;                 // by the caller
  Interactions pause_;                     // where the caller wants to look at it
  const KeepGoing* keep_going_ = nullptr;  // of the call that is going on
};

// Runs a trial of this engine to its end, or until keep_going returns false.
TrialResult run_trial(std::unique_ptr<TrialEngine> engine, const TrialPlan& plan,
                      const KeepGoing& keep_going);

}  // namespace conclave::population
