#include "conclave/population/census_trial.hpp"

#include <memory>
#include <utility>

#include "conclave/population/adaptive.hpp"
#include "conclave/population/census_events.hpp"
#include "conclave/population/counts.hpp"

namespace conclave::population::detail {

std::unique_ptr<LiveTrial> counts_trial(std::unique_ptr<Clock> clock,
                                        std::unique_ptr<Species> species, AgentCount n,
                                        const StreamName& name) {
  return std::make_unique<LiveTrialOf<CountsEngine>>(std::move(clock), std::move(species), n, name,
                                                     cost_table<CountsCosts>);
}

std::unique_ptr<LiveTrial> events_trial(std::unique_ptr<Clock> clock,
                                        std::unique_ptr<Species> species, AgentCount n,
                                        const StreamName& name) {
  return std::make_unique<LiveTrialOf<CensusEventsEngine>>(std::move(clock), std::move(species), n,
                                                           name);
}

std::unique_ptr<LiveTrial> adaptive_trial(std::unique_ptr<Clock> clock,
                                          std::shared_ptr<const AdaptiveStages> stages,
                                          std::unique_ptr<Species> species, AgentCount n,
                                          const StreamName& name, AgentMemory& memory) {
  return std::make_unique<LiveTrialOf<AdaptiveEngine>>(std::move(clock), std::move(stages),
                                                       std::move(species), n, name, memory);
}

}  // namespace conclave::population::detail
