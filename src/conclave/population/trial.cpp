#include "conclave/population/trial.hpp"

#include <algorithm>
#include <utility>

namespace conclave::population {

Trial::Trial(std::unique_ptr<TrialEngine> engine, const TrialPlan& plan,
             std::unique_ptr<Clock> clock)
    : engine_(std::move(engine)),
      plan_(plan),
      parallel_(engine_->size()),
      clock_(std::move(clock)),
      at_{.samples = LookTimes(plan.grid, this->clock(), engine_->size()),
          .until =
              plan.until ? this->clock().interactions_at(plan.until->time) : Interactions::max(),
          .waiting = std::vector<bool>(plan.faults.size(), true)} {
  if (plan_.grid) sample();
}

std::unique_ptr<Trial> Trial::copy() const {
  auto engine = engine_->copy();
  if (!engine) return nullptr;
  auto clock = engine->own_clock();
  if (!clock && clock_) clock = clock_->copy();
  auto result = std::make_unique<Trial>(std::move(engine), plan_, std::move(clock));
  result->at_ = at_;
  result->at_.samples.use(result->clock());
  return result;
}

void Trial::prepare_advance(Interactions pause, const KeepGoing& keep_going) {
  pause_ = pause;
  keep_going_ = &keep_going;
  is_paused_ = false;
  if (!follows_steps_ || pause <= now()) return;
  steps_.clear();
  if (engine_->next_meeting().number == pause) engine_->note_next(steps_);
}

Trial::Pause Trial::advance_to(Interactions time, const KeepGoing& keep_going, bool stops) {
  prepare_advance(time, keep_going);
  stops_ = stops;
  if (stops && !is_seeking()) seek_again();
  while (!is_paused_) {
    if (stops && is_seeking() && engine_->has_stopped()) break;
    go_on();
  }
  if (stops && is_seeking() && engine_->has_stopped()) return Pause::stopped;
  return now() >= time ? Pause::reached : Pause::interrupted;
}

void Trial::seek_again() {
  if (!is_over()) at_.phase = Phase::seeking;
  watch(Watch::convergence);
}

void Trial::advance_to_end(const KeepGoing& keep_going) {
  prepare_advance(Interactions::max(), keep_going);
  while (!is_over() && !is_paused_) go_on();
}

std::optional<NextMeeting> Trial::advance_to_change(Interactions most,
                                                    const KeepGoing& keep_going) {
  const Interactions end = now() + most;
  while (now() < end) {
    const NextMeeting next = engine_->next_meeting();
    if (next.number > end) break;
    const AgentTable before = engine_->table();
    if (advance_to(next.number, keep_going) != Pause::reached) return std::nullopt;
    const AgentTable after = engine_->table();
    if (after.values != before.values || after.counts != before.counts) return next;
  }
  advance_to(end, keep_going);
  return std::nullopt;
}

TrialResult Trial::result() && {
  if (!is_over()) {  // its census is not kept: counting may take seconds
    at_.phase = Phase::over;
    at_.result.ending = Ending::interrupted;
    if (!at_.has_ended_once || plan_.until) report();
  }
  return std::move(at_.result);
}

void Trial::go_on() {
  switch (at_.phase) {
    case Phase::seeking:
      return seek();
    case Phase::lasting:
      return see_whether_it_lasts();
    case Phase::faults:
      return await_fault();
    case Phase::horizon:
      return run_to_horizon();
    case Phase::holding:
      return hold();
    case Phase::final_census:
      return take_final_census();
    case Phase::over:
      return go_on_after_end();
  }
}

void Trial::watch(Watch what) {
  at_.watch = what;
  engine_->watch(what);
}

// Copies into the result the state of the trial at this moment.
void Trial::report() {
  TrialResult& result = at_.result;
  result.interactions = now();
  result.leaders = engine_->leaders();
  result.observations = engine_->observations();
  if (!clock_) return;
  const bool is_at_time = result.ending == Ending::until && is_at_horizon();
  result.time = is_at_time ? plan_.until->time.as_double() : clock_->time_after(now());
}

// Advances to a given time, less far only if the watched event happens or at the horizon; false if
// paused.
bool Trial::advance_engine(Interactions time) {
  while (now() < time && !is_at_horizon() && !engine_->has_stopped()) {
    if (now() >= pause_) {
      is_paused_ = true;
      return false;
    }
    const Interactions stop = std::min({time, at_.samples.next(), at_.until, pause_});
    engine_->advance_a_chunk(stop - now(), time - now());
    refresh_times();
    if (now() == at_.samples.next()) sample();
    if (!(*keep_going_)({now(), engine_.get()}) && !engine_->has_stopped()) {
      is_paused_ = true;
      return false;
    }
  }
  return true;
}

// A clock that learns may know more about the times that the trial waits for.
void Trial::refresh_times() {
  if (!clock_ || !clock_->learns()) return;
  at_.samples.refresh();
  if (plan_.until) at_.until = clock_->interactions_at(plan_.until->time);
}

// Convergence that does not last is none: then on to the next.
void Trial::see_whether_it_lasts() {
  const Interactions length = parallel_.interactions_at(*plan_.lasting);
  const Interactions end =
      length < Interactions::max() - at_.held_from ? at_.held_from + length : Interactions::max();
  if (!advance_engine(std::min(end, plan_.limit))) return;
  if (engine_->violated()) {
    at_.phase = Phase::seeking;
  } else if (now() >= end) {
    end_seeking(Ending::converged);
  } else {
    end_seeking(is_at_horizon() ? Ending::until : Ending::limit);
  }
}

// Up to the next fault or to the limit.
void Trial::seek() {
  const auto fault = next_fault();
  const Interactions end = fault ? std::min(fault->first, plan_.limit) : plan_.limit;
  watch(Watch::convergence);
  if (!advance_engine(end)) return;
  if (engine_->converged() && plan_.lasting) {
    at_.phase = Phase::lasting;
    at_.held_from = now();
    at_.watch = Watch::violation;
    return engine_->hold();
  }
  if (engine_->converged()) return end_seeking(Ending::converged);
  if (is_at_horizon()) return end_seeking(Ending::until);
  if (fault && fault->first <= plan_.limit) {  // also of what had become hopeless
    if (!pass_time(end)) return;
    if (is_at_horizon()) return end_seeking(Ending::until);
    return strike_as_planned(fault->second);
  }
  end_seeking(engine_->hopeless() ? Ending::hopeless : Ending::limit);
}

bool Trial::pass_time(Interactions end) {
  watch(Watch::nothing);
  return advance_engine(end);
}

void Trial::end_seeking(Ending ending) {
  if (ending == Ending::converged) note_convergence();
  at_.phase = Phase::faults;
  if (at_.has_ended_once) return;
  at_.has_ended_once = true;
  at_.result.ending = ending;
  if (plan_.until) {
    if (ending == Ending::converged && plan_.until->or_convergence) {
      report();
      return finish();
    }
    at_.result.ending = Ending::until;  // converged or not, it goes on to the horizon
    return;
  }
  report();
  const bool is_sampled =
      plan_.keeps_trace && plan_.grid && at_.result.trace.back().interactions == now();
  if (plan_.checks && plan_.grid && !is_sampled && ending == Ending::hopeless) sample();
  if (ending != Ending::converged) finish();
}

void Trial::note_convergence() {
  if (!at_.first_convergence) at_.first_convergence = now();
  if (!at_.result.faults.empty() && !at_.result.faults.back().recovered) {
    FaultOutcome& last = at_.result.faults.back();
    last.recovered = true;
    last.recovery = now() - last.at;
  }
  if (plan_.grid) sample();
}

// After convergence: the faults still to come, each with its recovery.
void Trial::await_fault() {
  const auto fault = next_fault();
  if (!fault || fault->first > plan_.limit) return end_faults();
  if (!pass_time(fault->first)) return;
  if (is_at_horizon()) return end_faults();
  strike_as_planned(fault->second);
}

void Trial::end_faults() {
  if (plan_.until) {
    at_.phase = Phase::horizon;
  } else if (engine_->converged() && engine_->measures_holding()) {
    at_.phase = Phase::holding;
    at_.held_from = now();
    at_.watch = Watch::violation;
    engine_->hold();
  } else {
    finish();
  }
}

void Trial::run_to_horizon() {
  if (!is_at_horizon() && !pass_time(plan_.limit)) return;
  if (!is_at_horizon()) at_.result.ending = Ending::limit;
  if (plan_.grid && plan_.keeps_trace && at_.result.trace.back().interactions != now()) sample();
  report();
  finish();
}

void Trial::hold() {
  if (!advance_engine(plan_.limit)) return;
  const auto& [interactions, censored] = holding_observables;
  at_.result.observations.push_back({interactions.name, now() - at_.held_from});
  at_.result.observations.push_back({censored.name, !engine_->violated()});
  if (plan_.grid) sample();
  finish();
}

void Trial::finish() {
  at_.phase = Phase::final_census;
  if (plan_.keeps_history && (at_.result.history.points.empty() || at_.last_kept != now())) {
    keep_census(at_.result.time.value_or(clock().time_after(now())));
  }
  at_.result.first_convergence = at_.first_convergence;
  at_.result.effective = engine_->effective_interactions();
  take_final_census();
}

// The last that is done; a trial is interrupted if it is paused here and not resumed.
void Trial::take_final_census() {
  if (plan_.keeps_final || (plan_.keeps_census_at_horizon && plan_.until)) {
    const KeepGoing still = [this](const Moment&) {
      return (*keep_going_)({now(), engine_.get()});
    };
    try {
      at_.result.final_agents = engine_->agents(&still);
    } catch (const Interrupted&) {
      is_paused_ = true;
      return;
    }
  }
  at_.phase = Phase::over;
}

// Nothing of what happens now is part of the result.
void Trial::go_on_after_end() {
  is_paused_ = true;
  for (;;) {
    if (is_seeking() && engine_->has_stopped()) {
      if (engine_->converged() && !at_.first_convergence) at_.first_convergence = now();
      if (stops_) return;
      watch(Watch::nothing);
    }
    if (now() >= pause_) return;
    engine_->advance_a_chunk(pause_ - now(), Interactions::max() - now());
    if (!(*keep_going_)({now(), engine_.get()})) return;
  }
}

// The earliest fault still to come whose time is known, and when.
std::optional<std::pair<Interactions, std::size_t>> Trial::next_fault() const {
  std::optional<std::pair<Interactions, std::size_t>> earliest;
  for (std::size_t i = 0; i < plan_.faults.size(); ++i) {
    const Fault& fault = plan_.faults[i];
    if (!at_.waiting[i] || (fault.after_convergence && !at_.first_convergence)) continue;
    const Interactions base = fault.after_convergence ? *at_.first_convergence : Interactions();
    const Interactions time = std::max(base + after(fault.parallel_time), now());
    if (!earliest || time < earliest->first) earliest = {time, i};
  }
  return earliest;
}

Interactions Trial::after(double parallel_time) const {
  const double wanted = parallel_time * static_cast<double>(engine_->size());
  if (wanted < 9e18) return static_cast<std::uint64_t>(wanted);
  // So late that whole units of parallel time are fine enough.
  return Interactions(engine_->size()) *
         Interactions(static_cast<std::uint64_t>(std::min(parallel_time, 9e18)));
}

void Trial::strike_as_planned(std::size_t index) {
  at_.waiting[index] = false;
  strike(plan_.faults[index]);
}

AgentCount Trial::strike(const Fault& fault) {
  const AgentCount hit = engine_->strike(fault);
  if (!is_over()) {
    at_.result.faults.push_back(
        {.text = fault.text, .at = now(), .agents = hit, .leaders = engine_->leaders()});
    at_.samples.begin_anew(now());
    if (plan_.grid) sample();
  }
  seek_again();
  return hit;
}

void Trial::sample() {
  if (plan_.keeps_trace) {
    at_.result.trace.push_back(
        {now(), engine_->leaders(), engine_->observations(), clock().time_after(now())});
  }
  if (plan_.keeps_history && now() == at_.samples.next()) keep_samples(now());
  at_.samples.pass(now());
}

// Samples at a clock of its own are at the times of the grid, and there may be several between two
// interactions.
void Trial::keep_samples(Interactions now) {
  LookTimes& samples = at_.samples;
  if (!clock_ || !samples.time()) return keep_census(clock().time_after(now));
  while (samples.next() == now &&
         !(plan_.until && *samples.time() > plan_.until->time.as_double())) {
    keep_census(*samples.time());
    samples.step();
  }
}

void Trial::keep_census(double time) {
  History& history = at_.result.history;
  history.points.push_back({now(), time});
  at_.last_kept = now();
  for (NamedCount& each : engine_->census()) {
    const auto [place, is_new] = at_.numbers.try_emplace(
        std::move(each.name), static_cast<std::uint32_t>(history.names.size()));
    if (is_new) history.names.push_back(place->first);
    history.points.back().counts.emplace_back(place->second, each.count);
  }
}

TrialResult run_trial(std::unique_ptr<TrialEngine> engine, const TrialPlan& plan,
                      const KeepGoing& keep_going) {
  Trial trial(std::move(engine), plan);
  trial.advance_to_end(keep_going);
  return std::move(trial).result();
}

}  // namespace conclave::population
