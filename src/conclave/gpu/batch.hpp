// Batches of trials for the gpu engine: what the host prepares, and what it makes of the results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "conclave/gpu/device_tally.hpp"
#include "conclave/gpu/device_trial.hpp"
#include "conclave/gpu/engine.hpp"
#include "conclave/gpu/trial_loop.hpp"
#include "conclave/model/trial.hpp"

namespace conclave::gpu {

// The placeholder of a result that is not there yet.
template <DeviceProtocol P>
Finished<P> blank(const P& protocol, std::uint32_t n) {
  return {.tally = DeviceTally<P>::make(protocol, n, nullptr),
          .interactions = 0,
          .held = 0,
          .ending = Ending::interrupted,
          .is_violated = false,
          .has_drawn = false,
          .is_complete = false};
}

// All pointers are to memory that the threads of the device can reach.
template <DeviceProtocol P>
Batch<P> batch_of(const BatchRequest& request, const P* protocol, Finished<P>* finished,
                  std::uint64_t* next_trial,  // NOLINT: threads count it up
                  const volatile bool* is_stopped) {
  return {.protocol = protocol,
          .n = request.n,
          .start = request.start,
          .limit = request.limit,
          .seed = request.seed,
          .first_trial = request.first_trial,
          .trials = request.trials,
          .finished = finished,
          .next_trial = next_trial,
          .is_stopped = is_stopped};
}

// The result as the agents engine would give it.
template <DeviceProtocol P>
TrialResult result_of(const P& protocol, const Finished<P>& trial) {
  TrialResult result{.ending = trial.ending,
                     .interactions = trial.interactions,
                     .leaders = trial.tally.leaders(),
                     .observations = trial.tally.observations()};
  if constexpr (MeasuresHolding<P>) {
    if (trial.ending == Ending::converged && protocol.measures_holding()) {
      const auto& [interactions, censored] = holding_observables;
      result.observations.push_back({interactions.name, Interactions(trial.held)});
      result.observations.push_back({censored.name, !trial.is_violated});
    }
  }
  return result;
}

// Memory filled with garbage, like fresh memory of a device.
template <class T>
std::vector<T> full_of_garbage(std::size_t count, const T& any) {
  static_assert(std::is_trivially_copyable_v<T>);
  constexpr int garbage = 0xa5;
  std::vector<T> items(count, any);
  std::memset(static_cast<void*>(items.data()), garbage, count * sizeof(T));
  return items;
}

// The results of a batch that `run` runs on this processor.
template <DeviceProtocol P>
std::vector<Finished<P>> run_here(const P& protocol, const BatchRequest& request, auto&& run) {
  std::vector<Finished<P>> finished(request.trials, blank(protocol, request.n));
  std::uint64_t next_trial = 0;
  const bool is_stopped = false;
  const Batch<P> batch = batch_of(request, &protocol, finished.data(), &next_trial, &is_stopped);
  run(batch);
  return finished;
}

// The same batch on one emulated warp of this processor: slow; the reference that devices are
// checked against.
template <Memory memory, class Warp = HostWarp, DeviceProtocol P>
std::vector<Finished<P>> emulated(const P& protocol, const BatchRequest& request) {
  using Packed = typename Stored<P>::type;
  using Tally = DeviceTallyFor<P>;
  const Packed any = Stored<P>::pack(protocol, typename P::State{});
  auto agents = full_of_garbage(std::size_t{trials_per_warp} * request.n, any);
  auto tallies = full_of_garbage<Tally>(trials_per_warp, blank(protocol, request.n).tally);
  const std::size_t words = DeviceTally<P>::words(protocol, request.n);
  std::vector<std::uint64_t> tally_words(trials_per_warp * words + 1);
  std::vector<TrialStreams> streams(trials_per_warp);
  return run_here(protocol, request, [&](const Batch<P>& batch) {
    TrialLoop<P, Warp, memory> loop(batch, Warp(), [&](int lane) {
      const auto trial = static_cast<std::size_t>(lane / lanes_per_trial);
      return Place<P>{&agents[trial * request.n], &tallies[trial], &streams[trial],
                      &tally_words[trial * words]};
    });
    loop.run();
  });
}

}  // namespace conclave::gpu
