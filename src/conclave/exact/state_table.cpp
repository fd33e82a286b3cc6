#include "conclave/exact/state_table.hpp"

#include <fmt/format.h>

#include "conclave/base/error.hpp"

namespace conclave::exact {

NumberedStates::~NumberedStates() = default;  // compiled here, once

std::pair<StateNumber, bool> NumberedStates::number_of_fields(std::vector<std::int64_t> fields) {
  const auto next = static_cast<StateNumber>(size());
  const auto [entry, is_new] = numbers_.try_emplace(std::move(fields), next);
  return {entry->second, is_new};
}

void NumberedStates::add_all_states() {
  check_listing();
  EveryWeightedChoice choice;
  do {
    arbitrary(choice);
  } while (choice.next());
}

std::vector<std::pair<StateNumber, Weight>> NumberedStates::initial_outcomes(std::size_t start,
                                                                             AgentCount agent) {
  std::vector<std::pair<StateNumber, Weight>> all;
  EveryWeightedChoice choice;
  do {
    const StateNumber state = initial(start, agent, choice);
    all.emplace_back(state, choice.weight());
  } while (choice.next());
  return all;
}

std::vector<PairOutcome> NumberedStates::compute(StateNumber u, StateNumber v,
                                                 OracleAnswer answer) {
  std::vector<PairOutcome> results;
  EveryWeightedChoice choice;
  do {
    const Met met = meet(u, v, choice, answer);
    results.push_back({met.u, met.v, choice.weight(), met.changes_output});
  } while (choice.next());
  return results;
}

void NumberedStates::close() {
  for (StateNumber u = 0; u < size(); ++u) {
    for (StateNumber v = 0; v <= u; ++v) {
      close(u, v);
      close(v, u);
    }
  }
}

void NumberedStates::close(StateNumber u, StateNumber v) {
  outcomes(u, v);
  if (asks_oracle()) outcomes(u, v, OracleAnswer::leaderless);
}

void check_listed_states(Interactions states) {
  constexpr std::uint64_t most_states = 4096;
  if (states <= most_states) return;
  throw Error(fmt::format("too large for an exact computation: an agent has {} states, and all "
                          "configurations can be explored up to {}; take smaller parameters, or "
                          "explore from a start with --from start",
                          to_string(states), most_states));
}

void refuse_listing(std::string_view protocol) {
  throw Error(fmt::format("{} cannot name all its states; explore it from its start", protocol));
}

}  // namespace conclave::exact
