// Runs of the gpu engine: a prepared run of the agents engine whose trials a device runs. The rows
// are the same, to the byte, so which of the two runs a trial may depend on the machine.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "conclave/catalog/catalog.hpp"
#include "conclave/gpu/engine.hpp"

namespace conclave::catalog {

// All that a device needs beside the run of the agents engine.
struct DeviceRun {
  std::shared_ptr<const void> protocol;  // what `make` takes
  std::size_t start = 0;                 // its number
  gpu::MakeEngine make = nullptr;
  unsigned device = 0;                         // see gpu::MakeEngine
  bool is_ring = false;                        // the protocol's own graph is the directed ring
  std::function<void(TrialResult&)> finish{};  // makes a result of what the device gives
};

// `agents` tells everything but how trials are run. Throws Error where the device engine cannot do
// this run, and where there is no device.
std::unique_ptr<const PreparedRun> on_gpu(std::unique_ptr<const PreparedRun> agents, DeviceRun run);

// Whether a run that `--engine auto` leaves to `agents` is worth a device. It is if there is one;
// if the run has so many trials that they fill a part of it, for one trial alone is about a tenth
// as fast there as on a processor; and if there is so much to do that the start of the device does
// not count. O(1), and cheap where it says no.
bool is_worth_a_device(const RunRequest& request, const PreparedRun& agents);
inline constexpr std::uint64_t device_trials_per_thread = 64;
inline constexpr std::uint64_t device_agents_in_all = 10'000'000;  // agents times trials

// The run on a device where that can be done, and otherwise `agents`.
std::unique_ptr<const PreparedRun> on_gpu_if_possible(std::unique_ptr<const PreparedRun> agents,
                                                      DeviceRun run);

}  // namespace conclave::catalog
