// The exact module's table of states, under the name that the tests use, and lists of states to
// fill it with.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "conclave/exact/state_table.hpp"
#include "conclave/exact/weight.hpp"
#include "conclave/model/population.hpp"

namespace conclave::tests {

using exact::StateTable;

// All states that `arbitrary` can return, each as often as outcomes of its choices lead to it.
template <SelfStabilizing P>
std::vector<typename P::State> arbitrary_states(const P& protocol) {
  std::vector<typename P::State> all;
  exact::EveryWeightedChoice choice;
  do {
    all.push_back(protocol.arbitrary(choice));
  } while (choice.next());
  return all;
}

// All states that agents can have in any number of interactions from the initial states of a start;
// `start` is an index among the protocol's starts, and all agents start like agent 0.
template <PopulationProtocol P>
StateTable<P> reachable_states(const P& protocol, std::size_t start = 0) {
  StateTable<P> table(protocol);
  exact::EveryWeightedChoice choice;
  do {
    table.number(protocol.initial(start, 0, choice));
  } while (choice.next());
  table.close([] {});
  return table;
}

// exact::quotient_violation for the given states of a protocol.
template <PopulationProtocol P>
std::optional<std::string> quotient_violation(
    const P& protocol, const std::vector<typename P::State>& states,
    const typename StateTable<P>::NormalForm& normal_form) {
  StateTable<P> plain(protocol);
  for (const auto& state : states) plain.number(state);
  StateTable<P> normal(protocol, normal_form);
  return exact::quotient_violation(plain, normal);
}

}  // namespace conclave::tests
