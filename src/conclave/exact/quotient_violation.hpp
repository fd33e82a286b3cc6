// Checks that states with the same normal form behave alike, so that the chain over normal forms
// (the quotient) has the same hitting times as the chain over states.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "conclave/exact/state_table.hpp"

namespace conclave::exact {

// The first violation among the states of `plain` and all their ordered pairs, in words: a state
// whose normal form has another output, or two states whose interaction has other outcomes, up to
// normal forms, than that of their normal forms. Nothing if there is none. `plain` is a table
// without, `normal` one with the congruence, of the same protocol. O(states^2) interactions.
std::optional<std::string> quotient_violation(NumberedStates& plain, NumberedStates& normal);

template <PopulationProtocol P>
std::optional<std::string> quotient_violation(
    const P& protocol, const std::vector<typename P::State>& states,
    const typename StateTable<P>::NormalForm& normal_form) {
  StateTable<P> plain(protocol);
  for (const auto& state : states) plain.number(state);
  StateTable<P> normal(protocol, normal_form);
  return quotient_violation(plain, normal);
}

}  // namespace conclave::exact
