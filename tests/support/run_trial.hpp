// Runs a trial of an engine that a test holds itself.
#pragma once

#include <memory>

#include "conclave/population/trial.hpp"

namespace conclave::population {

template <PopulationEngine E>
TrialResult run_trial(E& engine, const TrialPlan& plan, const KeepGoing& keep_going) {
  return run_trial(std::make_unique<TrialEngineOf<E&>>(engine), plan, keep_going);
}

}  // namespace conclave::population
