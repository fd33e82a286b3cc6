#include "conclave/population/census_engines.hpp"

#include <memory>
#include <utility>

#include "conclave/population/adaptive.hpp"
#include "conclave/population/census_events.hpp"
#include "conclave/population/counts.hpp"

namespace conclave::population {

std::unique_ptr<TrialEngine> counts_engine(std::unique_ptr<detail::Species> species, AgentCount n,
                                           const StreamName& name) {
  return std::make_unique<TrialEngineOf<CountsEngine>>(std::move(species), n, name,
                                                       cost_table<CountsCosts>);
}

std::unique_ptr<TrialEngine> events_engine(std::unique_ptr<detail::Species> species, AgentCount n,
                                           const StreamName& name) {
  return std::make_unique<TrialEngineOf<CensusEventsEngine>>(std::move(species), n, name);
}

std::unique_ptr<TrialEngine> adaptive_engine(std::shared_ptr<const detail::AdaptiveStages> stages,
                                             std::unique_ptr<detail::Species> species, AgentCount n,
                                             const StreamName& name, AgentMemory& memory) {
  return std::make_unique<TrialEngineOf<AdaptiveEngine>>(std::move(stages), std::move(species), n,
                                                         name, memory);
}

}  // namespace conclave::population
