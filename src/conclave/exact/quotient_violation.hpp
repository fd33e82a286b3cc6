// Checks that states with the same normal form behave alike, so that the chain over normal forms
// (the quotient) has the same hitting times as the chain over states.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "conclave/exact/state_table.hpp"
#include "conclave/model/claims.hpp"

namespace conclave::exact {

// The first violation among `states` and all their ordered pairs, in words: a state whose normal
// form has another output, or two states whose interaction has other outcomes, up to normal forms,
// than that of their normal forms. Nothing if there is none. O(states^2) interactions.
template <PopulationProtocol P>
std::optional<std::string> quotient_violation(
    const P& protocol, const std::vector<typename P::State>& states,
    const typename StateTable<P>::NormalForm& normal_form) {
  using State = typename P::State;
  StateTable<P> plain(protocol);
  StateTable<P> normal(protocol, normal_form);
  using Outcome = std::tuple<StateNumber, StateNumber, double>;
  const auto outcomes = [&](StateTable<P>& table, const State& u, const State& v) {
    const StateNumber first = table.number(u);
    const StateNumber second = table.number(v);
    std::vector<Outcome> all;
    for (const PairOutcome& result : table.outcomes(first, second)) {
      all.emplace_back(normal.number(table.state(result.u)), normal.number(table.state(result.v)),
                       result.weight.as_double());
    }
    std::ranges::sort(all);
    return all;
  };
  for (const State& u : states) {
    if (protocol.role(u) != protocol.role(normal_form(u))) return to_text(u);
    for (const State& v : states) {
      if (outcomes(plain, u, v) != outcomes(normal, u, v)) {
        return '(' + to_text(u) + ") meets (" + to_text(v) + ')';
      }
    }
  }
  return std::nullopt;
}

}  // namespace conclave::exact
