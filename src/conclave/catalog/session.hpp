// One trial to step through: it is advanced by interactions or by time, looked at between two
// steps, struck by faults, copied. The front ends that let people explore a protocol hold one.
//
// Stepping never changes a trial. A session that is advanced in a hundred pieces is, configuration
// by configuration, the trial of that number of `conclave run --until T`, whatever the engine.
//
// A session remembers its seed and the interventions in it. That is enough to resume it elsewhere,
// including the state of all generators, by repeating the interventions. A copy is made directly
// from its state.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "conclave/base/interactions.hpp"
#include "conclave/base/numbers.hpp"
#include "conclave/base/random.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/model/clock.hpp"
#include "conclave/model/fault.hpp"
#include "conclave/model/trial.hpp"

namespace conclave::population {
class LiveTrial;
class TrialEngine;
}  // namespace conclave::population

namespace conclave::catalog {

enum class SessionEnd : std::uint8_t {
  reached,      // the requested interaction or time
  stopped,      // the stop condition holds, or can never hold any more
  interrupted,  // keep_going returned false
};

// For one thread at a time.
class Session {
 public:
  // The trial of that number. Faults and horizons of the run's plan are left to the caller. Throws
  // Error for message passing and for engine gpu, whose trials cannot be stepped through.
  // keep_going, unless it is empty, is called while very many agents are made; Interrupted is
  // thrown if it returns false.
  explicit Session(const std::shared_ptr<const PreparedRun>& run, std::uint64_t trial = 0,
                   const KeepGoing& keep_going = {});
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  const PreparedRun& run() const { return *run_; }
  Interactions now() const;
  // In parallel time, or the time of a network of reactions.
  double time() const { return time_; }
  // How many interactions have happened at that time.
  Interactions interactions_at(const Fraction& time);

  // Advance to a number of interactions since the start, or to a time; no further than to the stop
  // condition if `stops`. keep_going is called every few hundredths of a second.
  SessionEnd advance_to(Interactions end, bool stops, const KeepGoing& keep_going);
  SessionEnd advance_to_time(const Fraction& time, bool stops, const KeepGoing& keep_going);

  // The trial as it is now: leaders, observables, census, agents, convergence.
  const population::TrialEngine& engine() const;
  // When the stop condition first held, as far as the trial has come.
  std::optional<Interactions> first_convergence() const { return first_convergence_; }

  // Strikes now; returns how many agents it hit. Exact in law, also in the middle of a batch.
  // Throws Error if the protocol or its text cannot be struck.
  AgentCount strike(const Fault& fault);

  // Goes on as a trial of another run of as many agents, which starts from a given configuration:
  // with another stop condition, or with the agents in other states. Time goes on.
  void go_on_as(std::shared_ptr<const PreparedRun> run);

  // All that it takes, beside the run and the number of the trial, to make a session that goes on
  // exactly as this one does. Plain values, for files.
  struct Intervention {
    Interactions at;               // since the start
    std::optional<Fault> fault{};  // none: it was made to stop at its condition again
  };
  struct Record {
    std::uint64_t part = 0;                     // how often it has gone on as another run
    Interactions before{};                      // interactions before the present run
    std::vector<Intervention> interventions{};  // to the present run
    Interactions now{};
    double time = 0;
    std::optional<Interactions> first_convergence{};
  };
  Record record() const;
  // Repeats what the record says; takes as long as that took since the start or the last
  // `go_on_as`. Nothing if interrupted after its start, Interrupted before. Throws Error if the
  // record does not fit the run.
  static std::optional<Session> resumed(std::shared_ptr<const PreparedRun> run, std::uint64_t trial,
                                        const Record& record, const KeepGoing& keep_going);
  // One that goes on exactly as this one does. O(agents), or O(states met) where they are counted;
  // protocols that own their whole configuration repeat what they did, as `resumed` does.
  std::optional<Session> copy(const KeepGoing& keep_going) const;

 private:
  Session(const Session& other, std::unique_ptr<population::LiveTrial> live);
  Session(std::shared_ptr<const PreparedRun> run, const StreamName& name, Interactions before,
          const KeepGoing& keep_going);
  void begin(const KeepGoing& keep_going);
  Clock& clock();
  Interactions end_of_time() const;
  void note_stop();
  void watch_again();

  std::shared_ptr<const PreparedRun> run_;
  StreamName name_;
  Interactions before_;                   // interactions before the present run
  std::unique_ptr<Workspace> workspace_;  // a copy has none
  std::unique_ptr<population::LiveTrial> live_;
  ParallelClock parallel_;
  double time_ = 0;
  std::optional<Interactions> first_convergence_;
  bool is_watched_ = true;  // for the stop condition
  std::vector<Intervention> interventions_;
};

}  // namespace conclave::catalog
