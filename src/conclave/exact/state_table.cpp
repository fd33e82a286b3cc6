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

void NumberedStates::add_all_states(const std::function<void(StateNumber)>& visit) {
  check_listing();
  EveryWeightedChoice choice;
  do {
    const std::size_t before = size();
    const StateNumber state = arbitrary(choice);
    if (size() > before) visit(state);
  } while (choice.next());
}

// A node of the map, the fields there, and the state itself.
std::uint64_t NumberedStates::bytes() const {
  constexpr std::uint64_t bytes_of_node = 112;
  const std::size_t fields = numbers_.empty() ? 0 : numbers_.begin()->first.size();
  return PairOutcomes::bytes() + size() * (bytes_of_node + 2 * sizeof(std::int64_t) * fields);
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

void NumberedStates::close(const std::function<void()>& before_row) {
  for (StateNumber u = 0; u < size(); ++u) {
    before_row();
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
                          "explore from one with --from start",
                          to_string(states), most_states));
}

void refuse_listing(std::string_view protocol) {
  throw Error(fmt::format("{} cannot name all its states; explore it from its start", protocol));
}

namespace {

// The outcomes of an interaction of two states of `table`, up to normal forms, in order.
std::vector<std::tuple<StateNumber, StateNumber, double>> normal_outcomes(NumberedStates& table,
                                                                          StateNumber u,
                                                                          StateNumber v,
                                                                          NumberedStates& normal) {
  std::vector<std::tuple<StateNumber, StateNumber, double>> all;
  const auto outcomes = table.outcomes(u, v);
  for (const PairOutcome& each : outcomes) {
    const StateNumber new_u = normal.number_like(table, each.u);
    all.emplace_back(new_u, normal.number_like(table, each.v), each.weight.as_double());
  }
  std::ranges::sort(all);
  return all;
}

}  // namespace

std::optional<std::string> quotient_violation(NumberedStates& plain, NumberedStates& normal) {
  const std::size_t states = plain.size();  // interactions may add others
  std::vector<StateNumber> forms;
  for (StateNumber u = 0; u < states; ++u) forms.push_back(normal.number_like(plain, u));
  for (StateNumber u = 0; u < states; ++u) {
    if (plain.role(u) != normal.role(forms[u])) return plain.text(u);
    for (StateNumber v = 0; v < states; ++v) {
      if (normal_outcomes(plain, u, v, normal) !=
          normal_outcomes(normal, forms[u], forms[v], normal)) {
        return '(' + plain.text(u) + ") interacts with (" + plain.text(v) + ')';
      }
    }
  }
  return std::nullopt;
}

}  // namespace conclave::exact
