// A protocol that starts from one given configuration, for searches and tests: everything else is
// that of P.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "conclave/model/population.hpp"

namespace conclave::population {

template <PopulationProtocol P>
class Started : public P {
 public:
  using State = typename P::State;
  static constexpr std::array starts{Start{"given", "the configuration given"}};

  using P::P;
  // The states must outlive the protocol.
  Started(const P& protocol, std::span<const State> agents) : P(protocol), agents_(agents) {}

  State initial(std::size_t, AgentCount agent, Choice auto&) const { return agents_[agent]; }

 private:
  std::span<const State> agents_;
};

}  // namespace conclave::population
