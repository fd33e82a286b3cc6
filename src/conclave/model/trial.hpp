// The plan and the result of one trial, whichever protocol and engine. Views of text look
// into constants of the protocol, which live as long as the program, or into its compiled text.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "conclave/base/interactions.hpp"
#include "conclave/base/numbers.hpp"
#include "conclave/base/progress.hpp"
#include "conclave/model/fault.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/trace.hpp"

namespace conclave {

enum class Ending : std::uint8_t {
  converged,
  limit,        // the limit on interactions was reached first
  hopeless,     // the protocol can never converge any more
  interrupted,  // the caller asked to stop
  until,        // the time at which the trial was to end was reached
};

// A time at which a trial ends as planned, whether or not it has converged by then.
struct Horizon {
  Fraction time{};
  bool or_convergence = false;  // ends at the first convergence if that comes earlier
};

// Where and how a trial may end, what is done to it on the way, and what of it is kept. Looking at
// a trial never changes it: a grid, a horizon and what is kept leave all else as it is, bit for
// bit.
struct TrialPlan {
  Interactions limit = Interactions::max();
  std::vector<Fault> faults{};
  std::optional<TraceGrid> grid{};       // none: no looks
  std::optional<Horizon> until{};        // none: the trial runs to its convergence
  std::optional<Fraction> lasting{};     // convergence counts once it has lasted this parallel time
  bool keeps_trace = true;               // leaders and observables at every look
  bool keeps_history = false;            // the census at every time of the grid and at the end
  bool keeps_final = false;              // the configuration at the end
  bool keeps_census_at_horizon = false;  // the same, but only of trials with a horizon
  // The properties of a protocol file are watched: a trial is hopeless once one of them fails, and
  // that is sampled, too.
  bool checks = false;
};

// How many messages of a kind were sent.
struct KindCount {
  std::string_view kind;
  std::uint64_t messages = 0;
};

// One line of a trace of message passing. A node is woken by the environment ("wake") or by a
// message, or as one that does not stand ("join"), begins a "phase", may "stand" as a candidate,
// "retire" or "elect" itself; its timer may run out ("timeout"); and messages are delivered
// ("deliver"), which is when they are listed.
struct NetworkEvent {
  double time = 0;  // in units, the largest delay of a message
  std::string_view event;
  std::uint64_t node = 0;
  std::uint64_t phase = 0;
  std::uint64_t peer = 0;      // of a message: its sender
  std::string_view message{};  // its kind
  double sent = 0;
};

// The result of a message passing trial. Everything sent over an edge counts; what a node tells
// itself does not.
struct NetworkOutcome {
  std::vector<KindCount> by_kind{};
  double time = 0;                        // in units, from the first wake-up to the last sending
  std::optional<std::uint64_t> rounds{};  // synchronous: the rounds of both included
  std::uint64_t elected = 0;
  std::uint64_t informed = 0;
  std::optional<std::uint64_t> most_on_an_edge{};  // both directions together; only if counted
  std::vector<NetworkEvent> trace{};               // only on request
};

// Interactions, leaders and observations are as of the first convergence, or of the end of a trial
// without one or with a horizon; the rest is about what came later.
struct TrialResult {
  Ending ending = Ending::interrupted;
  Interactions interactions{};   // in a network: messages
  std::optional<double> time{};  // of a clock that is not parallel time
  std::optional<Interactions> first_convergence{};
  AgentCount leaders = 0;
  std::vector<Observation> observations{};
  std::vector<FaultOutcome> faults{};
  std::vector<TracePoint> trace{};
  History history{};                       // by state
  std::vector<NamedCount> final_agents{};  // runs of equal agents in their order; on the complete
                                           // graph the census, in the order of the states
  std::uint64_t effective = 0;  // interactions that an engine did not jump over; 0: it never jumps
  std::optional<NetworkOutcome> network{};
};

// A trial as observers see it while it runs.
class TrialView {
 public:
  // O(1). Observations may take O(n), and are exact at the time of the call.
  virtual AgentCount leaders() const = 0;
  virtual std::vector<Observation> observations() const = 0;

 protected:
  ~TrialView() = default;
};

// How far a trial is; the view, where there is one, is good for the time of the call only.
struct Moment {
  // Not explicit: most callers know the interactions alone.
  Moment(Interactions so_far, const TrialView* seen = nullptr) : interactions(so_far), view(seen) {}
  template <CountSource T>
  Moment(T so_far) : Moment(Interactions(so_far)) {}
  operator Interactions() const { return interactions; }

  Interactions interactions;  // in networks: messages
  const TrialView* view;
};

// Called by the thread that runs the trial, every few hundredths of a second; false ends the trial
// as `interrupted`.
using KeepGoing = std::function<bool(const Moment&)>;

// For loops over all agents or arcs before the first interaction, which take seconds where there
// are very many: calls it once per 1024 visits, unless it is null. Throws Interrupted if it returns
// false.
inline void ask_to_go_on(const KeepGoing* keep_going, std::uint64_t visited) {
  if (keep_going == nullptr || visited % 1024 != 0) return;
  if (!(*keep_going)(Interactions())) throw Interrupted();
}

}  // namespace conclave
