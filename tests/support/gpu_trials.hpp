// The same trials by engine agents and by the emulations of engine gpu.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "conclave/gpu/batch.hpp"
#include "conclave/population/agents.hpp"
#include "conclave/population/run.hpp"

namespace conclave::gpu {

// On an emulated warp.
template <Memory memory = Memory::near, class P>
std::vector<TrialResult> on_a_warp(const P& protocol, const BatchRequest& request) {
  std::vector<TrialResult> results;
  for (const Finished<P>& trial : emulated<memory>(protocol, request)) {
    results.push_back(result_of(protocol, trial));
  }
  return results;
}

// On an emulated block.
template <BlockProtocol P>
std::vector<TrialResult> on_a_block(const P& protocol, const BatchRequest& request) {
  std::vector<TrialResult> results;
  for (const Finished<P>& trial : emulated_by_block(protocol, request)) {
    results.push_back(result_of(protocol, trial));
  }
  return results;
}

// On an emulated cluster.
template <BlockProtocol P>
std::vector<TrialResult> on_a_cluster(const P& protocol, const BatchRequest& request) {
  std::vector<TrialResult> results;
  for (const Finished<P>& trial : emulated_by_cluster(protocol, request)) {
    results.push_back(result_of(protocol, trial));
  }
  return results;
}

// By engine agents.
template <class P>
std::vector<TrialResult> one_by_one(const P& protocol, const BatchRequest& request) {
  std::vector<TrialResult> results;
  population::AgentMemory memory;
  for (std::uint64_t i = 0; i < request.trials; ++i) {
    const StreamName name{.seed = request.seed, .trial = request.first_trial + i};
    population::Agents<P> engine(protocol, request.n, request.start, name, memory);
    results.push_back(population::run_trial(engine, TrialPlan{.limit = request.limit},
                                            [](Interactions) { return true; }));
  }
  return results;
}

// All that a row tells.
inline std::string text(const TrialResult& result) {
  std::string all = std::to_string(static_cast<int>(result.ending)) + ' ' +
                    to_string(result.interactions) + ' ' + std::to_string(result.leaders);
  for (const Observation& observation : result.observations) {
    all += ' ' + std::string(observation.name) + '=';
    std::visit(
        [&](const auto& value) {
          if constexpr (requires { std::to_string(value); }) {
            all += std::to_string(value);
          } else if constexpr (requires { to_string(value); }) {
            all += to_string(value);
          } else {
            all += value;
          }
        },
        observation.value);
  }
  return all;
}

}  // namespace conclave::gpu
