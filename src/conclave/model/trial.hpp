// What one trial gives, whichever protocol and engine produced it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "conclave/base/interactions.hpp"
#include "conclave/model/population.hpp"

namespace conclave {

enum class Ending : std::uint8_t {
  converged,
  limit,        // the limit on interactions was reached first
  hopeless,     // the protocol can never converge any more
  interrupted,  // the caller asked to stop
};

struct TrialResult {
  Ending ending = Ending::interrupted;
  Interactions interactions{};
  AgentCount leaders = 0;
  std::vector<Observation> observations{};
};

// Called now and then during a trial with the number of interactions so far; false ends the trial.
using KeepGoing = std::function<bool(Interactions)>;

}  // namespace conclave
