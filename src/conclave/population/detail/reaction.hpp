// Would this meeting change anything? Asked by the engines that jump over meetings that do not.
#pragma once

#include <cstdint>

#include "conclave/model/population.hpp"

namespace conclave::population::detail {

// A Choice that only notes that it was asked.
struct AskedChoice {
  bool asked = false;
  std::uint32_t below(std::uint32_t) {
    asked = true;
    return 0;
  }
  bool chance(std::uint32_t, std::uint32_t) {
    asked = true;
    return false;
  }
  bool wide_chance(std::uint64_t, std::uint64_t) {
    asked = true;
    return false;
  }
};

// False only if the interaction is certain to leave both agents as they are. One that depends on
// chance counts as reacting.
template <PopulationProtocol P>
bool reacts(const P& protocol, const typename P::State& u, const typename P::State& v) {
  typename P::State new_u = u;
  typename P::State new_v = v;
  AskedChoice choice;
  protocol.interact(new_u, new_v, choice);
  return choice.asked || !(new_u == u) || !(new_v == v);
}

}  // namespace conclave::population::detail
