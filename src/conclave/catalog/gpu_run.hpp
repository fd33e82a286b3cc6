// Runs of the gpu engine: a prepared run of the agents engine whose trials a device runs. The rows
// are the same, to the byte, so which of the two runs a trial may depend on the machine.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "conclave/catalog/catalog.hpp"
#include "conclave/gpu/engine.hpp"

namespace conclave::catalog {

// Everything a device needs in addition to the run of the agents engine.
struct DeviceRun {
  std::shared_ptr<const void> protocol;  // what `make` takes
  std::size_t start = 0;                 // its number
  gpu::MakeEngine make = nullptr;
  unsigned device = 0;                         // see gpu::MakeEngine
  bool is_ring = false;                        // the protocol's own graph is the directed ring
  std::function<void(TrialResult&)> finish{};  // makes a result of what the device gives
};

// `agents` describes everything except how trials are run. Throws Error if the device engine cannot
// do this run, and if there is no device.
std::unique_ptr<const PreparedRun> on_gpu(std::unique_ptr<const PreparedRun> agents, DeviceRun run);

// Whether a run that `--engine auto` leaves to `agents` has enough trials for a device, if there is
// one: so many that they fill a good part of it, because a single trial is about ten times slower
// there than on a processor, and make up for starting it. O(1), and cheap if the answer is no.
bool fills_a_device(const RunRequest& request, const PreparedRun& agents);
inline constexpr std::uint64_t device_trials_per_thread = 64;
inline constexpr std::uint64_t device_agents_in_all = 10'000'000;  // agents times trials

// A run that `--engine auto` leaves to `agents`: on a device if it fills one, or if the device
// spreads its trials and they may be long enough to make up for starting it and for drawing their
// starts there, which one thread does.
std::unique_ptr<const PreparedRun> on_gpu_if_worth_it(const RunRequest& request,
                                                      std::unique_ptr<const PreparedRun> agents,
                                                      const std::function<DeviceRun()>& run);
inline constexpr std::uint64_t device_interactions_per_agent = 4096;

}  // namespace conclave::catalog
