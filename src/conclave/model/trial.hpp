// The plan and the result of one trial, whichever protocol and engine. Views of text look
// into constants of the protocol, which live as long as the program, or into its compiled text.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "conclave/base/interactions.hpp"
#include "conclave/model/fault.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/trace.hpp"

namespace conclave {

enum class Ending : std::uint8_t {
  converged,
  limit,        // the limit on interactions was reached first
  hopeless,     // the protocol can never converge any more
  interrupted,  // the caller asked to stop
};

// Where and how a trial may end, and what is done to it on the way.
struct TrialPlan {
  Interactions limit = Interactions::max();
  std::vector<Fault> faults{};
  std::optional<TraceGrid> grid{};  // none: no trace
};

// How many messages of a kind were sent.
struct KindCount {
  std::string_view kind;
  std::uint64_t messages = 0;
};

// One line of a trace of message passing. A node is woken by the environment ("wake") or by a
// message ("join"), begins a "phase", may "retire" or "elect" itself, and messages are delivered
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
  std::vector<NetworkEvent> trace{};               // only if asked for
};

// Interactions, leaders and observations are as of the first convergence, or of the end of a trial
// without one; the rest tells what came later.
struct TrialResult {
  Ending ending = Ending::interrupted;
  Interactions interactions{};  // in a network: messages
  AgentCount leaders = 0;
  std::vector<Observation> observations{};
  std::vector<FaultOutcome> faults{};
  std::vector<TracePoint> trace{};
  std::uint64_t effective = 0;  // interactions that an engine did not jump over; 0: it never jumps
  std::optional<NetworkOutcome> network{};
};

// Called by the thread that runs the trial, every few hundredths of a second, with the number of
// interactions so far (in networks, of messages); false ends the trial as `interrupted`.
using KeepGoing = std::function<bool(Interactions)>;

}  // namespace conclave
