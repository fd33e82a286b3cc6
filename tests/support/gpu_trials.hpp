// The same trials by engine agents and by the emulations of engine gpu.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "conclave/gpu/batch.hpp"
#include "conclave/population/agents.hpp"

#include "tests/support/host_cluster.hpp"
#include "tests/support/run_trial.hpp"

namespace conclave::gpu {

template <class P>
std::vector<TrialResult> results_of(const P& protocol, const std::vector<Finished<P>>& trials) {
  std::vector<TrialResult> results;
  for (const Finished<P>& trial : trials) results.push_back(result_of(protocol, trial));
  return results;
}

// On an emulated warp or cluster.
template <Memory memory = Memory::near, class P>
std::vector<TrialResult> on_a_warp(const P& protocol, const BatchRequest& request) {
  return results_of(protocol, emulated<memory>(protocol, request));
}
template <ClusterProtocol P>
std::vector<TrialResult> on_a_cluster(const P& protocol, const BatchRequest& request) {
  return results_of(protocol, emulated_by_cluster(protocol, request));
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

// All that a row contains.
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

// How many of the trials that some emulation has run differ from those of engine agents.
template <class P>
std::size_t differing_trials(const P& protocol, const BatchRequest& request,
                             const std::vector<Finished<P>>& found) {
  const auto expected = one_by_one(protocol, request);
  std::size_t differing = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    differing += text(result_of(protocol, found[i])) != text(expected[i]) ? 1u : 0u;
  }
  return differing;
}

}  // namespace conclave::gpu
