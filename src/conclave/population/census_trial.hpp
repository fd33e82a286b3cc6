// Trials of engines that know agents only by how many are in which state, or do so now and then.
// Only the species and stages, which ask the protocol, depend on its type.
#pragma once

#include <memory>
#include <utility>

#include "conclave/base/random.hpp"
#include "conclave/model/clock.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/starting_census.hpp"
#include "conclave/population/agent_memory.hpp"
#include "conclave/population/detail/adaptive_stages.hpp"
#include "conclave/population/detail/species.hpp"
#include "conclave/population/detail/species_of.hpp"
#include "conclave/population/live_trial.hpp"

// They need not know the type of the protocol, and are compiled once.
namespace conclave::population::detail {

std::unique_ptr<LiveTrial> counts_trial(std::unique_ptr<Clock> clock,
                                        std::unique_ptr<Species> species, AgentCount n,
                                        const StreamName& name);
std::unique_ptr<LiveTrial> events_trial(std::unique_ptr<Clock> clock,
                                        std::unique_ptr<Species> species, AgentCount n,
                                        const StreamName& name);
std::unique_ptr<LiveTrial> adaptive_trial(std::unique_ptr<Clock> clock,
                                          std::shared_ptr<const AdaptiveStages> stages,
                                          std::unique_ptr<Species> species, AgentCount n,
                                          const StreamName& name, AgentMemory& memory);

}  // namespace conclave::population::detail

namespace conclave::population {

// On the engine `counts`. The clock is the protocol's, or null.
template <PopulationProtocol P>
std::unique_ptr<LiveTrial> counts_trial(std::unique_ptr<Clock> clock, const P& protocol,
                                        AgentCount n, const StartingPoint<typename P::State>& start,
                                        const StreamName& name) {
  return detail::counts_trial(
      std::move(clock), std::make_unique<detail::SpeciesOf<P>>(protocol, n, start, name), n, name);
}

// On the engine `events`.
template <PopulationProtocol P>
std::unique_ptr<LiveTrial> events_trial(std::unique_ptr<Clock> clock, const P& protocol,
                                        AgentCount n, const StartingPoint<typename P::State>& start,
                                        const StreamName& name) {
  return detail::events_trial(
      std::move(clock), std::make_unique<detail::SpeciesOf<P>>(protocol, n, start, name), n, name);
}

// On the engine behind `auto`, which uses the memory.
template <PopulationProtocol P>
std::unique_ptr<LiveTrial> adaptive_trial(std::unique_ptr<Clock> clock, const P& protocol,
                                          AgentCount n,
                                          const StartingPoint<typename P::State>& start,
                                          const StreamName& name, AgentMemory& memory) {
  return detail::adaptive_trial(
      std::move(clock), std::make_shared<const detail::AdaptiveStagesOf<P>>(protocol),
      std::make_unique<detail::SpeciesOf<P>>(protocol, n, start, name), n, name, memory);
}

}  // namespace conclave::population
