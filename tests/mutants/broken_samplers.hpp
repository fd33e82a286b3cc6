// Engines with one mistake each outside the scheduler.
#pragma once

#include <cstdint>

#include "tests/support/hitting_law.hpp"
#include "tests/support/samplers.hpp"

namespace conclave::tests::mutants {

// Forgets null interactions: its clock runs only when a state changes.
template <PopulationProtocol P>
class ForgetsNullInteractions {
 public:
  explicit ForgetsNullInteractions(const Setting<P>& setting) : setting_(setting) {}

  std::uint64_t operator()(std::uint64_t trial) const {
    PlainTrial<P, UniformPairs> simulation(setting_, trial);
    std::uint64_t counted = 0;
    while (simulation.leaders() != 1) counted += simulation.step() ? 1 : 0;
    return counted;
  }

 private:
  Setting<P> setting_;
};

// Reports the hit one interaction late.
template <Sampler S>
struct LateByOne {
  S& sampler;
  std::uint64_t operator()(std::uint64_t trial) { return sampler(trial) + 1; }
};

// Four trials share a stream. Their law is right, but they are no longer independent.
template <Sampler S>
struct SharesStreams {
  S& sampler;
  std::uint64_t operator()(std::uint64_t trial) { return sampler(trial / 4); }
};

}  // namespace conclave::tests::mutants
