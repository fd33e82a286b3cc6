#include "conclave/population/run.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "conclave/model/trace.hpp"

namespace conclave::population {
namespace {

class TrialRun {
 public:
  TrialRun(TrialEngine& engine, const TrialPlan& plan, const KeepGoing& keep_going)
      : engine_(engine), plan_(plan), keep_going_(keep_going), waiting_(plan.faults.size(), true) {}

  TrialResult run() {
    if (plan_.grid) look();
    result_.ending = seek_convergence();
    result_.interactions = engine_.now();
    result_.leaders = engine_.leaders();
    result_.observations = engine_.observations();
    if (result_.ending == Ending::converged) run_on();
    result_.effective = engine_.effective_interactions();
    return std::move(result_);
  }

 private:
  // Advances to a given time, less far only if what is watched for happens; false if interrupted.
  bool advance_to(Interactions time) {
    while (engine_.now() < time && !engine_.has_stopped()) {
      const Interactions stop = plan_.grid ? std::min(time, next_look_) : time;
      engine_.advance_a_chunk(stop - engine_.now());
      if (plan_.grid && engine_.now() == next_look_) look();
      if (!keep_going_(engine_.now()) && !engine_.has_stopped()) return false;
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
      if (fault && fault->first <= plan_.limit) {  // also of what had become hopeless
        engine_.watch(Watch::nothing);
        if (!advance_to(end)) return Ending::interrupted;
        strike(fault->second);
        continue;
      }
      return engine_.hopeless() ? Ending::hopeless : Ending::limit;
    }
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

  // After convergence: the faults still to come, each with its recovery; then the holding time.
  void run_on() {
    for (auto fault = next_fault(); fault && fault->first <= plan_.limit; fault = next_fault()) {
      engine_.watch(Watch::nothing);
      if (!advance_to(fault->first)) return interrupt();
      strike(fault->second);
      if (seek_convergence() == Ending::interrupted) return interrupt();
    }
    if (engine_.converged() && engine_.measures_holding()) hold();
  }

  void interrupt() { result_.ending = Ending::interrupted; }

  void hold() {
    const Interactions begin = engine_.now();
    engine_.hold();
    if (!advance_to(plan_.limit)) return interrupt();
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
    origin_ = next_look_ =
        engine_.now();  // what follows a fault is looked at as closely as a start
    if (plan_.grid) look();
  }

  void look() {
    result_.trace.push_back({engine_.now(), engine_.leaders(), engine_.observations()});
    if (engine_.now() < next_look_) return;
    next_look_ = origin_ + plan_.grid->after(engine_.now() - origin_, engine_.size());
  }

  TrialEngine& engine_;
  const TrialPlan& plan_;
  const KeepGoing& keep_going_;
  std::vector<bool> waiting_;  // faults still to come
  std::optional<Interactions> first_convergence_;
  Interactions origin_;  // of the grid: the start or the last fault
  Interactions next_look_;
  TrialResult result_;
};

}  // namespace

TrialResult run_planned(TrialEngine& engine, const TrialPlan& plan, const KeepGoing& keep_going) {
  return TrialRun(engine, plan, keep_going).run();
}

}  // namespace conclave::population
