// The trials of census_trial.hpp, of species of any protocol: compiled once. The clock is the
// protocol's, or null.
#pragma once

#include <memory>

#include "conclave/base/random.hpp"
#include "conclave/model/clock.hpp"
#include "conclave/model/population.hpp"
#include "conclave/population/agent_memory.hpp"
#include "conclave/population/detail/adaptive_stages.hpp"
#include "conclave/population/detail/species.hpp"
#include "conclave/population/live_trial.hpp"

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
