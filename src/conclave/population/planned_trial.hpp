// A trial that is carried out as planned, piece by piece. `run_planned` runs one to its end in one
// piece; the explorer advances it, looks at it and goes on. Where it pauses never changes it: the
// result is that of the trial run in one piece, bit for bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "conclave/base/interactions.hpp"
#include "conclave/model/clock.hpp"
#include "conclave/model/trace.hpp"
#include "conclave/model/trial.hpp"
#include "conclave/population/run.hpp"

namespace conclave::population {

class PlannedTrial {
 public:
  // Engine, plan and clock must outlive it; null for parallel time.
  PlannedTrial(TrialEngine& engine, const TrialPlan& plan, Clock* clock = nullptr);
  PlannedTrial(const PlannedTrial&) = delete;
  PlannedTrial& operator=(const PlannedTrial&) = delete;

  // Goes on to this many interactions from the start, less far only where the trial ends before;
  // `keep_going` is called between chunks and during the last census, and false pauses it, too.
  // Once it is over, nothing happens any more.
  void advance_to(Interactions pause, const KeepGoing& keep_going);
  bool is_over() const { return phase_ == Phase::over; }

  // The result, once the trial is over; before, what a trial that is interrupted here has to say.
  // Once only.
  TrialResult result() &&;

  // The faults that have struck so far.
  const std::vector<FaultOutcome>& faults() const { return result_.faults; }
  std::optional<Interactions> first_convergence() const { return first_convergence_; }

 private:
  // The phases of a trial. Each can be resumed where it was left: it asks the engine how far it is.
  enum class Phase : std::uint8_t {
    seeking,  // convergence, through the faults that come before it
    faults,   // passes the time to the next fault after convergence
    horizon,  // all faults have struck: on to the time at which the trial ends
    holding,  // how long what was elected lasts
    final_census,
    over,
  };

  void report();
  bool is_at_horizon() const { return engine_.now() >= until_; }
  bool advance_engine(Interactions time);
  bool pass_time(Interactions end);
  void go_on();
  void seek();
  void end_seeking(Ending ending);
  void note_convergence();
  void await_fault();
  void end_faults();
  void run_to_horizon();
  void hold();
  void finish();
  void take_final_census();
  std::optional<std::pair<Interactions, std::size_t>> next_fault() const;
  Interactions after(double parallel_time) const;
  void strike(std::size_t index);
  void look();
  void keep_looks(Interactions now);
  void keep_census(double time);

  TrialEngine& engine_;
  const TrialPlan& plan_;
  ParallelClock parallel_;
  Clock& clock_;
  bool has_own_clock_;
  LookTimes looks_;
  Interactions until_;         // max(): the trial runs to its convergence
  std::vector<bool> waiting_;  // faults still to come
  Phase phase_ = Phase::seeking;
  bool has_ended_once_ = false;            // the first search for convergence is over
  bool is_paused_ = false;                 // by the caller
  Interactions pause_;                     // where the caller wants to look at it
  const KeepGoing* keep_going_ = nullptr;  // of the call that is going on
  Interactions held_from_;                 // the beginning of `holding`
  std::optional<Interactions> first_convergence_;
  std::map<std::string, std::uint32_t> numbers_;  // of the names in the history
  Interactions last_kept_;
  TrialResult result_;
};

}  // namespace conclave::population
