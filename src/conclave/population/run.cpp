#include "conclave/population/run.hpp"

#include <algorithm>
#include <utility>

#include "conclave/population/planned_trial.hpp"

namespace conclave::population {

PlannedTrial::PlannedTrial(TrialEngine& engine, const TrialPlan& plan, Clock* clock)
    : engine_(engine),
      plan_(plan),
      parallel_(engine.size()),
      clock_(clock != nullptr ? *clock : parallel_),
      has_own_clock_(clock != nullptr),
      looks_(plan.grid, clock_, engine.size()),
      until_(plan.until ? clock_.interactions_at(plan.until->time) : Interactions::max()),
      waiting_(plan.faults.size(), true) {
  if (plan_.grid) look();
}

void PlannedTrial::advance_to(Interactions pause, const KeepGoing& keep_going) {
  pause_ = pause;
  keep_going_ = &keep_going;
  is_paused_ = false;
  while (phase_ != Phase::over && !is_paused_) go_on();
}

TrialResult PlannedTrial::result() && {
  if (phase_ != Phase::over) {  // its census is not kept: counting may take seconds
    phase_ = Phase::over;
    result_.ending = Ending::interrupted;
    if (!has_ended_once_ || plan_.until) report();
  }
  return std::move(result_);
}

void PlannedTrial::go_on() {
  switch (phase_) {
    case Phase::seeking:
      return seek();
    case Phase::faults:
      return await_fault();
    case Phase::horizon:
      return run_to_horizon();
    case Phase::holding:
      return hold();
    case Phase::final_census:
      return take_final_census();
    case Phase::over:
      return;
  }
}

// Copies into the result the state of the trial at this moment.
void PlannedTrial::report() {
  result_.interactions = engine_.now();
  result_.leaders = engine_.leaders();
  result_.observations = engine_.observations();
  if (!has_own_clock_) return;
  const bool is_at_time = result_.ending == Ending::until && is_at_horizon();
  result_.time = is_at_time ? plan_.until->time.as_double() : clock_.time_after(engine_.now());
}

// Advances to a given time, less far only if the watched event happens or at the horizon; false if
// paused.
bool PlannedTrial::advance_engine(Interactions time) {
  while (engine_.now() < time && !is_at_horizon() && !engine_.has_stopped()) {
    if (engine_.now() >= pause_) {
      is_paused_ = true;
      return false;
    }
    const Interactions stop = std::min({time, looks_.next(), until_, pause_});
    engine_.advance_a_chunk(stop - engine_.now(), time - engine_.now());
    if (engine_.now() == looks_.next()) look();
    if (!(*keep_going_)({engine_.now(), &engine_}) && !engine_.has_stopped()) {
      is_paused_ = true;
      return false;
    }
  }
  return true;
}

// Up to the next fault or to the limit.
void PlannedTrial::seek() {
  const auto fault = next_fault();
  const Interactions end = fault ? std::min(fault->first, plan_.limit) : plan_.limit;
  engine_.watch(Watch::convergence);
  if (!advance_engine(end)) return;
  if (engine_.converged()) return end_seeking(Ending::converged);
  if (is_at_horizon()) return end_seeking(Ending::until);
  if (fault && fault->first <= plan_.limit) {  // also of what had become hopeless
    if (!pass_time(end)) return;
    if (is_at_horizon()) return end_seeking(Ending::until);
    return strike(fault->second);
  }
  end_seeking(engine_.hopeless() ? Ending::hopeless : Ending::limit);
}

bool PlannedTrial::pass_time(Interactions end) {
  engine_.watch(Watch::nothing);
  return advance_engine(end);
}

void PlannedTrial::end_seeking(Ending ending) {
  if (ending == Ending::converged) note_convergence();
  phase_ = Phase::faults;
  if (has_ended_once_) return;
  has_ended_once_ = true;
  result_.ending = ending;
  if (plan_.until) {
    if (ending == Ending::converged && plan_.until->or_convergence) {
      report();
      return finish();
    }
    result_.ending = Ending::until;  // converged or not, it goes on to the horizon
    return;
  }
  report();
  if (ending != Ending::converged) finish();
}

void PlannedTrial::note_convergence() {
  if (!first_convergence_) first_convergence_ = engine_.now();
  if (!result_.faults.empty() && !result_.faults.back().recovered) {
    FaultOutcome& last = result_.faults.back();
    last.recovered = true;
    last.recovery = engine_.now() - last.at;
  }
  if (plan_.grid) look();
}

// After convergence: the faults still to come, each with its recovery.
void PlannedTrial::await_fault() {
  const auto fault = next_fault();
  if (!fault || fault->first > plan_.limit) return end_faults();
  if (!pass_time(fault->first)) return;
  if (is_at_horizon()) return end_faults();
  strike(fault->second);
  phase_ = Phase::seeking;
}

void PlannedTrial::end_faults() {
  if (plan_.until) {
    phase_ = Phase::horizon;
  } else if (engine_.converged() && engine_.measures_holding()) {
    phase_ = Phase::holding;
    held_from_ = engine_.now();
    engine_.hold();
  } else {
    finish();
  }
}

void PlannedTrial::run_to_horizon() {
  if (!is_at_horizon() && !pass_time(plan_.limit)) return;
  if (!is_at_horizon()) result_.ending = Ending::limit;
  if (plan_.grid && plan_.keeps_trace && result_.trace.back().interactions != engine_.now()) {
    look();
  }
  report();
  finish();
}

void PlannedTrial::hold() {
  if (!advance_engine(plan_.limit)) return;
  const auto& [interactions, censored] = holding_observables;
  result_.observations.push_back({interactions.name, engine_.now() - held_from_});
  result_.observations.push_back({censored.name, !engine_.violated()});
  if (plan_.grid) look();
  finish();
}

void PlannedTrial::finish() {
  phase_ = Phase::final_census;
  if (plan_.keeps_history && (result_.history.points.empty() || last_kept_ != engine_.now())) {
    keep_census(result_.time.value_or(clock_.time_after(engine_.now())));
  }
  result_.first_convergence = first_convergence_;
  result_.effective = engine_.effective_interactions();
  take_final_census();
}

// The last that is done; a trial is interrupted if it is paused here and not resumed.
void PlannedTrial::take_final_census() {
  if (plan_.keeps_final || (plan_.keeps_census_at_horizon && plan_.until)) {
    const KeepGoing still = [this](const Moment&) {
      return (*keep_going_)({engine_.now(), &engine_});
    };
    try {
      result_.final_agents = engine_.agents(&still);
    } catch (const Interrupted&) {
      is_paused_ = true;
      return;
    }
  }
  phase_ = Phase::over;
}

// The earliest fault still to come whose time is known, and when.
std::optional<std::pair<Interactions, std::size_t>> PlannedTrial::next_fault() const {
  std::optional<std::pair<Interactions, std::size_t>> earliest;
  for (std::size_t i = 0; i < plan_.faults.size(); ++i) {
    const Fault& fault = plan_.faults[i];
    if (!waiting_[i] || (fault.after_convergence && !first_convergence_)) continue;
    const Interactions base = fault.after_convergence ? *first_convergence_ : Interactions();
    const Interactions time = std::max(base + after(fault.parallel_time), engine_.now());
    if (!earliest || time < earliest->first) earliest = {time, i};
  }
  return earliest;
}

Interactions PlannedTrial::after(double parallel_time) const {
  const double wanted = parallel_time * static_cast<double>(engine_.size());
  if (wanted < 9e18) return static_cast<std::uint64_t>(wanted);
  // So late that whole units of parallel time are fine enough.
  return Interactions(engine_.size()) *
         Interactions(static_cast<std::uint64_t>(std::min(parallel_time, 9e18)));
}

void PlannedTrial::strike(std::size_t index) {
  waiting_[index] = false;
  const Fault& fault = plan_.faults[index];
  FaultOutcome outcome{.text = fault.text, .at = engine_.now()};
  outcome.agents = engine_.strike(fault);
  outcome.leaders = engine_.leaders();
  result_.faults.push_back(std::move(outcome));
  looks_.begin_anew(engine_.now());
  if (plan_.grid) look();
}

void PlannedTrial::look() {
  const Interactions now = engine_.now();
  if (plan_.keeps_trace) {
    result_.trace.push_back(
        {now, engine_.leaders(), engine_.observations(), clock_.time_after(now)});
  }
  if (plan_.keeps_history && now == looks_.next()) keep_looks(now);
  looks_.pass(now);
}

// Looks at a clock of its own are at the times of the grid, and there may be several between two
// interactions.
void PlannedTrial::keep_looks(Interactions now) {
  if (!has_own_clock_ || !looks_.time()) return keep_census(clock_.time_after(now));
  while (looks_.next() == now && !(plan_.until && *looks_.time() > plan_.until->time.as_double())) {
    keep_census(*looks_.time());
    looks_.step();
  }
}

void PlannedTrial::keep_census(double time) {
  History& history = result_.history;
  history.points.push_back({engine_.now(), time});
  last_kept_ = engine_.now();
  for (NamedCount& each : engine_.census()) {
    const auto [place, is_new] = numbers_.try_emplace(
        std::move(each.name), static_cast<std::uint32_t>(history.names.size()));
    if (is_new) history.names.push_back(place->first);
    history.points.back().counts.emplace_back(place->second, each.count);
  }
}

TrialResult run_planned(TrialEngine& engine, const TrialPlan& plan, const KeepGoing& keep_going,
                        Clock* clock) {
  PlannedTrial trial(engine, plan, clock);
  trial.advance_to(Interactions::max(), keep_going);
  return std::move(trial).result();
}

}  // namespace conclave::population
