// Engines that know agents only by how many are in which state, or do so now and then, for trials
// of any protocol. Only the species and stages, which ask the protocol, depend on its type; the
// engines are compiled once.
#pragma once

#include <memory>
#include <utility>

#include "conclave/base/random.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/starting_census.hpp"
#include "conclave/population/agent_memory.hpp"
#include "conclave/population/detail/adaptive_stages.hpp"
#include "conclave/population/detail/species.hpp"
#include "conclave/population/detail/species_of.hpp"
#include "conclave/population/trial_engine.hpp"

namespace conclave::population {

// The engine `counts`. The n agents are those that the species were built with.
std::unique_ptr<TrialEngine> counts_engine(std::unique_ptr<detail::Species> species, AgentCount n,
                                           const StreamName& name);
// The engine `events`.
std::unique_ptr<TrialEngine> events_engine(std::unique_ptr<detail::Species> species, AgentCount n,
                                           const StreamName& name);
// The engine behind `auto`, which uses the memory; that must outlive it.
std::unique_ptr<TrialEngine> adaptive_engine(std::shared_ptr<const detail::AdaptiveStages> stages,
                                             std::unique_ptr<detail::Species> species, AgentCount n,
                                             const StreamName& name, AgentMemory& memory);

// The same, from a protocol and its initial configuration.
template <PopulationProtocol P>
std::unique_ptr<TrialEngine> counts_engine(const P& protocol, AgentCount n,
                                           const StartingPoint<typename P::State>& start,
                                           const StreamName& name) {
  return counts_engine(std::make_unique<detail::SpeciesOf<P>>(protocol, n, start, name), n, name);
}
template <PopulationProtocol P>
std::unique_ptr<TrialEngine> events_engine(const P& protocol, AgentCount n,
                                           const StartingPoint<typename P::State>& start,
                                           const StreamName& name) {
  return events_engine(std::make_unique<detail::SpeciesOf<P>>(protocol, n, start, name), n, name);
}
template <PopulationProtocol P>
std::unique_ptr<TrialEngine> adaptive_engine(const P& protocol, AgentCount n,
                                             const StartingPoint<typename P::State>& start,
                                             const StreamName& name, AgentMemory& memory) {
  return adaptive_engine(std::make_shared<const detail::AdaptiveStagesOf<P>>(protocol),
                         std::make_unique<detail::SpeciesOf<P>>(protocol, n, start, name), n, name,
                         memory);
}

}  // namespace conclave::population
