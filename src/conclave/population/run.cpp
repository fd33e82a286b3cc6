#include "conclave/population/run.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "conclave/model/trace.hpp"

namespace conclave::population {
namespace {

class TrialRun {
 public:
  TrialRun(TrialEngine& engine, const TrialPlan& plan, const KeepGoing& keep_going, Clock* clock)
      : engine_(engine),
        plan_(plan),
        keep_going_(keep_going),
        parallel_(engine.size()),
        clock_(clock != nullptr ? *clock : parallel_),
        has_own_clock_(clock != nullptr),
        looks_(plan.grid, clock_, engine.size()),
        until_(plan.until ? clock_.interactions_at(plan.until->time) : Interactions::max()),
        waiting_(plan.faults.size(), true) {}

  TrialResult run() {
    if (plan_.grid) look();
    result_.ending = seek_convergence();
    if (plan_.until) {
      run_to_horizon();
    } else {
      report();
      if (result_.ending == Ending::converged) run_on();
    }
    if (plan_.keeps_history && (result_.history.points.empty() || last_kept_ != engine_.now())) {
      keep_census(result_.time.value_or(clock_.time_after(engine_.now())));
    }
    if (plan_.keeps_final) result_.final_agents = engine_.agents();
    result_.first_convergence = first_convergence_;
    result_.effective = engine_.effective_interactions();
    return std::move(result_);
  }

 private:
  // What the row says of the trial, as it is now.
  void report() {
    result_.interactions = engine_.now();
    result_.leaders = engine_.leaders();
    result_.observations = engine_.observations();
    if (!has_own_clock_) return;
    const bool is_at_time = result_.ending == Ending::until && is_at_horizon();
    result_.time = is_at_time ? plan_.until->time.as_double() : clock_.time_after(engine_.now());
  }

  bool is_at_horizon() const { return engine_.now() >= until_; }

  // Advances to a given time, less far only if what is watched for happens or at the horizon; false
  // if interrupted.
  bool advance_to(Interactions time) {
    while (engine_.now() < time && !is_at_horizon() && !engine_.has_stopped()) {
      const Interactions stop = std::min({time, looks_.next(), until_});
      engine_.advance_a_chunk(stop - engine_.now(), time - engine_.now());
      if (engine_.now() == looks_.next()) look();
      if (!keep_going_({engine_.now(), &engine_}) && !engine_.has_stopped()) return false;
    }
    return true;
  }

  // Runs until convergence, through the faults that come before it.
  Ending seek_convergence() {
    for (;;) {
      const auto fault = next_fault();
      const Interactions end = fault ? std::min(fault->first, plan_.limit) : plan_.limit;
      engine_.watch(Watch::convergence);
      if (!advance_to(end)) return Ending::interrupted;
      if (engine_.converged()) return note_convergence();
      if (is_at_horizon()) return Ending::until;
      if (fault && fault->first <= plan_.limit) {  // also of what had become hopeless
        if (!pass_time(end)) return Ending::interrupted;
        if (is_at_horizon()) return Ending::until;
        strike(fault->second);
        continue;
      }
      return engine_.hopeless() ? Ending::hopeless : Ending::limit;
    }
  }

  bool pass_time(Interactions end) {
    engine_.watch(Watch::nothing);
    return advance_to(end);
  }

  Ending note_convergence() {
    if (!first_convergence_) first_convergence_ = engine_.now();
    if (!result_.faults.empty() && !result_.faults.back().recovered) {
      FaultOutcome& last = result_.faults.back();
      last.recovered = true;
      last.recovery = engine_.now() - last.at;
    }
    if (plan_.grid) look();
    return Ending::converged;
  }

  // Converged or not, the trial goes on to the horizon, unless it was to end where it is.
  void run_to_horizon() {
    const bool is_over = result_.ending == Ending::converged && plan_.until->or_convergence;
    if (!is_over && result_.ending != Ending::interrupted) {
      result_.ending = Ending::until;
      if (strike_faults() && !is_at_horizon() && !pass_time(plan_.limit)) interrupt();
      if (result_.ending == Ending::until && !is_at_horizon()) result_.ending = Ending::limit;
      if (plan_.grid && plan_.keeps_trace && result_.trace.back().interactions != engine_.now()) {
        look();
      }
    }
    report();
  }

  // After convergence: the faults still to come, each with its recovery; then the holding time.
  void run_on() {
    if (strike_faults() && engine_.converged() && engine_.measures_holding()) hold();
  }

  // False if interrupted.
  bool strike_faults() {
    for (auto fault = next_fault(); fault && fault->first <= plan_.limit; fault = next_fault()) {
      if (!pass_time(fault->first)) return interrupt();
      if (is_at_horizon()) return true;
      strike(fault->second);
      if (seek_convergence() == Ending::interrupted) return interrupt();
    }
    return true;
  }

  bool interrupt() {
    result_.ending = Ending::interrupted;
    return false;
  }

  void hold() {
    const Interactions begin = engine_.now();
    engine_.hold();
    if (!advance_to(plan_.limit)) {
      interrupt();
      return;
    }
    const auto& [interactions, censored] = holding_observables;
    result_.observations.push_back({interactions.name, engine_.now() - begin});
    result_.observations.push_back({censored.name, !engine_.violated()});
    if (plan_.grid) look();
  }

  // The earliest fault still to come whose time is known, and when.
  std::optional<std::pair<Interactions, std::size_t>> next_fault() const {
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

  Interactions after(double parallel_time) const {
    const double wanted = parallel_time * static_cast<double>(engine_.size());
    if (wanted < 9e18) return static_cast<std::uint64_t>(wanted);
    // So late that whole units of parallel time are fine enough.
    return Interactions(engine_.size()) *
           Interactions(static_cast<std::uint64_t>(std::min(parallel_time, 9e18)));
  }

  void strike(std::size_t index) {
    waiting_[index] = false;
    const Fault& fault = plan_.faults[index];
    FaultOutcome outcome{.text = fault.text, .at = engine_.now()};
    outcome.agents = engine_.strike(fault);
    outcome.leaders = engine_.leaders();
    result_.faults.push_back(std::move(outcome));
    looks_.begin_anew(engine_.now());
    if (plan_.grid) look();
  }

  void look() {
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
  void keep_looks(Interactions now) {
    if (!has_own_clock_ || !looks_.time()) return keep_census(clock_.time_after(now));
    while (looks_.next() == now && !(plan_.until && *looks_.time() > end_time())) {
      keep_census(*looks_.time());
      looks_.step();
    }
  }
  double end_time() const { return plan_.until->time.as_double(); }

  void keep_census(double time) {
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

  TrialEngine& engine_;
  const TrialPlan& plan_;
  const KeepGoing& keep_going_;
  ParallelClock parallel_;
  Clock& clock_;
  bool has_own_clock_;
  LookTimes looks_;
  Interactions until_;         // max(): the trial runs to its convergence
  std::vector<bool> waiting_;  // faults still to come
  std::optional<Interactions> first_convergence_;
  std::map<std::string, std::uint32_t> numbers_;  // of the names in the history
  Interactions last_kept_;
  TrialResult result_;
};

}  // namespace

TrialResult run_planned(TrialEngine& engine, const TrialPlan& plan, const KeepGoing& keep_going,
                        Clock* clock) {
  return TrialRun(engine, plan, keep_going, clock).run();
}

}  // namespace conclave::population
