// The parts that both loops of the gpu engine share: which protocols a device can run, batches of
// trials, and the result of a trial. A loop is written once, over the threads that it is given
// (warp.hpp, device_threads.cuh); everything here is plain memory that host and device read alike.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "conclave/base/choice.hpp"
#include "conclave/gpu/device_tally.hpp"
#include "conclave/gpu/lane_stream.hpp"
#include "conclave/gpu/warp.hpp"
#include "conclave/model/oracle.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/trial.hpp"

namespace conclave::gpu {

// A CUDA compiler takes a function that is constexpr for one that is "also for the device". Whether
// a protocol of the catalog starts and interacts in a constant expression; other protocols are this
// module's own. Its constants have some value here, none of them 0; some constructor of it must be
// constexpr, too.
template <class P>
constexpr bool interacts_in_constant_expression() {
  std::array<unsigned char, sizeof(P)> ones{};
  ones.fill(1);
  const P protocol = std::bit_cast<P>(ones);
  NoticedChoice choice;
  typename P::State u = protocol.initial(0, 0, choice);
  typename P::State v = protocol.initial(0, 1, choice);
  protocol.interact(u, v, choice);
  return protocol.role(u) == protocol.role(u);
}
// Whether engine gpu can compile the protocol's `interact`: it must be usable in a constant
// expression.
template <class P>
concept IsConstexpr = !ListedProtocol<P> || requires {
  typename std::bool_constant<interacts_in_constant_expression<P>()>;
};

// A protocol whose trials can be run on a device: on the complete graph, with a tally that counts
// states, or on the directed ring, with a tally that knows who is where; without an oracle, all of
// it plain memory, and constexpr. Warps (trial_loop.hpp) run all of these.
template <class P>
concept DeviceProtocol =
    PopulationProtocol<P> && !AsksOracle<P> &&
    (CensusTallyOf<DeviceTallyFor<P>, P> || is_positional<P>)&&std::is_trivially_copyable_v<P> &&
    std::is_trivially_copyable_v<DeviceTallyFor<P>> &&
    std::is_trivially_copyable_v<typename Stored<P>::type> && IsConstexpr<P>;

// A protocol whose tally counts states and looks at no other agents, so that it can be notified of
// an interaction when later ones have happened. Clusters (cluster_loop.hpp) run these, as long as
// no interaction draws a random number: the words of that stream go to interactions in their order.
template <class P>
concept ClusterProtocol = DeviceProtocol<P> && !is_positional<P>;

// How a trial went. Tally and interactions are as of convergence, or of the end without one.
template <DeviceProtocol P>
struct Finished {
  DeviceTallyFor<P> tally;
  std::uint64_t interactions;
  std::uint64_t held;  // interactions since convergence, where holding is measured
  Ending ending;
  bool is_violated;
  bool has_drawn;    // given up: an interaction has drawn a random number, so a warp must run it
  bool is_complete;  // everything above is written
};

// Data that all threads of a batch share. Trial i is first_trial + i of the run and writes
// finished[i]. Pointers are to memory that the threads can reach, owned by the caller.
template <DeviceProtocol P>
struct Batch {
  const P* protocol;
  std::uint32_t n;
  std::size_t start;
  std::uint64_t limit;  // on interactions
  std::uint64_t seed;
  std::uint64_t first_trial;
  std::uint64_t trials;
  Finished<P>* finished;
  std::uint64_t* next_trial;        // the first that nobody has taken
  const volatile bool* is_stopped;  // trials under way then end as interrupted
};

// Whether a tally must be notified of this interaction at its time: its counts may change, or it
// reaches a milestone.
template <class P>
CONCLAVE_HOST_DEVICE bool must_notify(const DeviceTallyFor<P>& tally, const typename P::State& u,
                                      const typename P::State& v, const typename P::State& new_u,
                                      const typename P::State& new_v) {
  if constexpr (HasMilestones<DeviceTallyFor<P>, P>) {
    if (tally.milestone_of(new_u, new_v) > tally.milestone()) return true;
  }
  return tally.is_counted(u, v, new_u, new_v);
}

// How far a trial is.
struct TrialTime {
  std::uint64_t done;          // interactions
  std::uint64_t converged_at;  // where it is holding
  bool is_holding;             // it has converged, and goes on to measure how long that holds
};

// Whether what the trial waits for has happened: convergence, or after that a violation.
template <class P>
CONCLAVE_HOST_DEVICE bool is_at_end(const DeviceTallyFor<P>& tally, bool is_holding) {
  if constexpr (MeasuresHolding<P>) {
    if (is_holding) return tally.violated();
  }
  return tally.converged() || tally.hopeless();
}

// Writes the result of a trial that is over, at its limit, or stopped. Where it holds, the tally of
// its convergence is there already.
template <DeviceProtocol P>
CONCLAVE_HOST_DEVICE void write_result(Finished<P>& result, const DeviceTallyFor<P>& tally,
                                       const TrialTime& time, std::uint64_t limit) {
  const bool has_converged = time.is_holding || tally.converged();
  result.interactions = time.is_holding ? time.converged_at : time.done;
  result.held = time.done - time.converged_at;
  result.is_violated = false;
  if constexpr (MeasuresHolding<P>) result.is_violated = time.is_holding && tally.violated();
  if (!time.is_holding) result.tally = tally;
  result.ending = has_converged ? Ending::converged : Ending::limit;
  if (!has_converged && tally.hopeless()) result.ending = Ending::hopeless;
  const bool has_ended = is_at_end<P>(tally, time.is_holding) || time.done >= limit;
  if (!has_ended) result.ending = Ending::interrupted;
}

}  // namespace conclave::gpu
