#include "conclave/experiment/watched_trial.hpp"

#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/check.hpp"
#include "conclave/base/error.hpp"
#include "conclave/experiment/row.hpp"
#include "conclave/population/live_trial.hpp"
#include "conclave/population/planned_trial.hpp"

namespace conclave::experiment {
namespace {

const KeepGoing always = [](const Moment&) { return true; };

catalog::Entry entry_of(const WatchRequest& request) {
  const std::string& name = request.words.protocol;
  if (request.content.empty()) return catalog::find(name);
  return catalog::kept_text_entry(name, request.content);
}

std::unique_ptr<const catalog::PreparedRun> prepared(const WatchRequest& request,
                                                     const catalog::Entry& entry) {
  catalog::RunRequest wanted = request_of(entry, request.words);
  wanted.plan.grid = request.grid;
  auto run = entry.prepare(wanted);
  if (run->bytes_per_trial() <= request.most_bytes) return run;
  throw Error(fmt::format("there is no room for n = {} with engine {}: it takes about {} MB, and "
                          "{} MB are allowed",
                          run->n(), run->engine(), run->bytes_per_trial() / 1'000'000,
                          request.most_bytes / 1'000'000));
}

}  // namespace

struct WatchedTrial::Live {
  Live(const catalog::PreparedRun& run, std::unique_ptr<population::LiveTrial> live)
      : trial(std::move(live)), planned(trial->engine(), run.plan(), trial->clock()) {}

  population::TrialEngine& engine() const { return trial->engine(); }

  std::unique_ptr<population::LiveTrial> trial;
  population::PlannedTrial planned;
};

WatchedTrial::WatchedTrial(const WatchRequest& request)
    : entry_(entry_of(request)),
      run_(prepared(request, entry_)),
      workspace_(run_->workspace()),
      trial_(request.trial) {
  auto live = run_->begin({.seed = run_->seed(), .trial = trial_}, *workspace_, {});
  if (live) {
    live_ = std::make_unique<Live>(*run_, std::move(live));
    live_->planned.advance_to(0u, always);
    finish();
  } else {
    result_ = run_->run(trial_, *workspace_, always);
  }
}

WatchedTrial::~WatchedTrial() = default;

// Keeps the result as soon as there is one.
void WatchedTrial::finish() {
  if (!result_ && live_->planned.is_over()) result_ = std::move(live_->planned).result();
}

// Before the trial is advanced up to this time.
void WatchedTrial::note_steps(Interactions time) {
  if (time <= now()) return;
  steps_.clear();
  if (next_meeting().number == time) live_->engine().note_next(steps_);
}

void WatchedTrial::advance_to(Interactions time) {
  if (!live_) return;
  note_steps(time);
  live_->planned.advance_to(time, always);
  finish();
  if (!result_ || time == Interactions::max()) return;
  population::TrialEngine& engine = live_->engine();
  engine.watch(Watch::nothing);
  while (engine.now() < time) {
    engine.advance_a_chunk(time - engine.now(), time - engine.now());
  }
}

std::optional<Change> WatchedTrial::advance_to_change(Interactions most) {
  if (!live_) return std::nullopt;
  const Interactions end = now() + most;
  while (now() < end) {
    const population::NextMeeting next = next_meeting();
    if (next.number > end) break;
    const population::AgentTable before = table();
    advance_to(next.number);
    const population::AgentTable after = table();
    if (after.values == before.values && after.counts == before.counts) continue;
    Change change{.number = next.number, .has_agents = next.agents.has_value()};
    if (next.agents) std::tie(change.initiator, change.responder) = *next.agents;
    return change;
  }
  advance_to(end);
  return std::nullopt;
}

Interactions WatchedTrial::now() const {
  return live_ ? live_->engine().now() : result_->interactions;
}

double WatchedTrial::time() const {
  if (!live_) return result_->network ? result_->network->time : 0;
  Clock* const clock = live_->trial->clock();
  if (clock != nullptr) return clock->time_after(now());
  return now().as_double() / static_cast<double>(run_->n());
}

Interactions WatchedTrial::interactions_at(const Fraction& time) const {
  if (!live_) return 0u;
  Clock* const clock = live_->trial->clock();
  if (clock != nullptr) return clock->interactions_at(time);
  return ParallelClock(run_->n()).interactions_at(time);
}

bool WatchedTrial::is_over() const { return result_.has_value(); }
bool WatchedTrial::is_converged() const {
  return live_ ? live_->engine().converged() : result_->ending == Ending::converged;
}
std::uint64_t WatchedTrial::leaders() const {
  return live_ ? live_->engine().leaders() : result_->leaders;
}
std::vector<Observation> WatchedTrial::observations() const {
  return live_ ? live_->engine().observations() : result_->observations;
}

population::AgentTable WatchedTrial::table() const {
  return live_ ? live_->engine().table() : population::AgentTable{};
}

population::NextMeeting WatchedTrial::next_meeting() {
  return live_ ? live_->engine().next_meeting() : population::NextMeeting{Interactions::max()};
}

const std::vector<FaultOutcome>& WatchedTrial::faults() const {
  return result_ ? result_->faults : live_->planned.faults();
}

const std::vector<NetworkEvent>& WatchedTrial::events() const {
  static const std::vector<NetworkEvent> none;
  return result_ && result_->network ? result_->network->trace : none;
}

std::string WatchedTrial::row() const {
  CONCLAVE_CHECK(is_over());
  return RowFormat(*run_).json({trial_, *result_});
}

std::string WatchedTrial::trace() const {
  CONCLAVE_CHECK(is_over());
  const RowFormat format(*run_);
  const Row row{trial_, *result_};
  return format.trace_header(row) + format.trace(row);
}

}  // namespace conclave::experiment
