#include "conclave/catalog/session.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "conclave/base/check.hpp"
#include "conclave/base/error.hpp"
#include "conclave/population/live_trial.hpp"

namespace conclave::catalog {
namespace {

// Parts of a trial are numbered by engines that go over into each other; those of a session are
// far from theirs.
constexpr std::uint64_t parts_per_run = std::uint64_t{1} << 32;

}  // namespace

Session::Session(const std::shared_ptr<const PreparedRun>& run, std::uint64_t trial,
                 const KeepGoing& keep_going)
    : Session(run, {.seed = run->seed(), .trial = trial}, Interactions(), keep_going) {}

Session::Session(std::shared_ptr<const PreparedRun> run, const StreamName& name,
                 Interactions before, const KeepGoing& keep_going)
    : run_(std::move(run)), name_(name), before_(before), parallel_(run_->n()) {
  begin(keep_going);
}

Session::Session(const Session& other, std::unique_ptr<population::LiveTrial> live)
    : run_(other.run_),
      name_(other.name_),
      before_(other.before_),
      live_(std::move(live)),
      parallel_(other.parallel_),
      time_(other.time_),
      first_convergence_(other.first_convergence_),
      is_watched_(other.is_watched_),
      interventions_(other.interventions_) {}

Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

void Session::begin(const KeepGoing& keep_going) {
  live_.reset();  // before the memory that it uses
  workspace_ = run_->workspace();
  live_ = run_->begin(name_, *workspace_, keep_going);
  if (!live_) {
    throw Error(fmt::format("engine {} runs trials of {} to their end: they cannot be stepped "
                            "through",
                            run_->engine(), run_->protocol()));
  }
  live_->engine().watch(Watch::convergence);
  is_watched_ = true;
}

// A clock of its own is a function of seed and trial, and so the same for every run of the session.
Clock& Session::clock() {
  Clock* const own = live_->clock();
  return own != nullptr ? *own : parallel_;
}

Interactions Session::now() const { return before_ + live_->engine().now(); }

Interactions Session::interactions_at(const Fraction& time) {
  return clock().interactions_at(time);
}

const population::TrialEngine& Session::engine() const { return live_->engine(); }

// A trial of a plan without faults is cut short nowhere but at its limit.
Interactions Session::end_of_time() const { return run_->plan().limit; }

void Session::watch_again() {
  live_->engine().watch(Watch::convergence);
  is_watched_ = true;
}

void Session::note_stop() {
  if (live_->engine().converged() && !first_convergence_) first_convergence_ = now();
}

SessionEnd Session::advance_to(Interactions end, bool stops, const KeepGoing& keep_going) {
  if (stops && !is_watched_) {
    interventions_.push_back({now()});
    watch_again();
  }
  population::TrialEngine& engine = live_->engine();
  for (;;) {
    if (engine.has_stopped()) {
      note_stop();
      if (stops) break;
      engine.watch(Watch::nothing);
      is_watched_ = false;
    }
    if (now() >= end) break;
    engine.advance_a_chunk(end - now(), end_of_time() - engine.now());
    if (!keep_going({now(), &engine})) break;
  }
  if (engine.has_stopped()) note_stop();
  time_ = std::max(time_, clock().time_after(now()));
  if (stops && engine.has_stopped()) return SessionEnd::stopped;
  return now() >= end ? SessionEnd::reached : SessionEnd::interrupted;
}

SessionEnd Session::advance_to_time(const Fraction& time, bool stops, const KeepGoing& keep_going) {
  const SessionEnd end = advance_to(interactions_at(time), stops, keep_going);
  if (end == SessionEnd::reached) time_ = std::max(time_, time.as_double());
  return end;
}

AgentCount Session::strike(const Fault& fault) {
  run_->check_fault(fault);
  interventions_.push_back({now(), fault});
  const AgentCount hit = live_->engine().strike(fault);
  watch_again();
  return hit;
}

void Session::go_on_as(std::shared_ptr<const PreparedRun> run) {
  CONCLAVE_CHECK(run->n() == run_->n());
  CONCLAVE_CHECK(run->has_clock() == run_->has_clock());
  before_ = now();
  run_ = std::move(run);
  name_.part = (name_.part / parts_per_run + 1) * parts_per_run;
  interventions_.clear();
  begin({});
}

Session::Record Session::record() const {
  return {.part = name_.part / parts_per_run,
          .before = before_,
          .interventions = interventions_,
          .now = now(),
          .time = time_,
          .first_convergence = first_convergence_};
}

std::optional<Session> Session::resumed(std::shared_ptr<const PreparedRun> run, std::uint64_t trial,
                                        const Record& record, const KeepGoing& keep_going) {
  const StreamName name{.seed = run->seed(), .trial = trial, .part = record.part * parts_per_run};
  Session session(std::move(run), name, record.before, keep_going);
  for (const Intervention& each : record.interventions) {
    if (session.advance_to(each.at, false, keep_going) != SessionEnd::reached) return std::nullopt;
    if (each.fault) {
      session.strike(*each.fault);
    } else {
      session.watch_again();
    }
  }
  if (session.advance_to(record.now, false, keep_going) != SessionEnd::reached) {
    return std::nullopt;
  }
  session.interventions_ = record.interventions;
  session.time_ = record.time;
  session.first_convergence_ = record.first_convergence;
  return session;
}

std::optional<Session> Session::copy(const KeepGoing& keep_going) const {
  if (auto live = live_->copy()) return Session(*this, std::move(live));
  return resumed(run_, name_.trial, record(), keep_going);
}

}  // namespace conclave::catalog
