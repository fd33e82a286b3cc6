// The `gpu` engine: the trials of the agents engine, thousands at a time, on a CUDA device. Its
// results are those of `agents`, byte for byte, so rows do not tell which of the two ran.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "conclave/model/trial.hpp"

namespace conclave::gpu {

// Pairs are drawn from half a word each, as `agents` does up to this size.
inline constexpr AgentCount most_agents = AgentCount{1} << 24;

// No engine spreads trials of fewer agents.
inline constexpr AgentCount least_spread_agents = AgentCount{1} << 16;

// A batch has at most this many trials: the larger, the fewer the times at which the last trials of
// a batch leave most of the device idle. A result takes about a hundred bytes until it is handed
// over.
inline constexpr std::uint64_t most_trials = std::uint64_t{1} << 20;

// Trials first_trial ... first_trial + trials - 1 of one run; n is at most most_agents.
struct BatchRequest {
  std::uint32_t n = 2;
  std::size_t start = 0;
  std::uint64_t limit = UINT64_MAX;  // on interactions
  std::uint64_t seed = 1;
  std::uint64_t first_trial = 0;
  std::uint64_t trials = 0;
};

// Runs batches of one protocol on one device. Serves one thread at a time.
class Engine {
 public:
  virtual ~Engine() = default;

  // Its name, as its maker calls it.
  virtual std::string device() const = 0;

  // Whether many of its processors run each of so few trials, so that one trial is faster than on a
  // processor of this machine.
  virtual bool spreads(std::uint32_t n, std::uint64_t trials) const = 0;

  // Calls `take` for every trial in order, as soon as it and all before it are done. `keep_going`
  // is called now and then; if it returns false, trials under way end as interrupted. Throws Error
  // if the device has too little memory or fails.
  virtual void run(const BatchRequest& request, const std::function<bool()>& keep_going,
                   const std::function<void(std::uint64_t trial, TrialResult)>& take) = 0;
};

// Makes the engine of one protocol, given a pointer to it (its type is known where the function was
// compiled), on the device of that number, modulo how many there are. Null if its trials cannot be
// run on a device. Throws Error if there is no device, or if the device does not compute what this
// processor computes.
using MakeEngine = std::unique_ptr<Engine> (*)(const void* protocol, unsigned device);

// Whether this program was built with a CUDA compiler; otherwise every engine is null.
bool is_built();
// How many devices this process may use; 0 if it was not built for any.
unsigned device_count();

}  // namespace conclave::gpu
