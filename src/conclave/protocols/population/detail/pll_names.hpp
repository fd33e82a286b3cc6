// The states of P_LL in histories, files and the explorer, with the paper's names. Agents of
// different groups share a member, `variable`, which is count, level_Q, rand or level_B (Table 3).
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "conclave/base/fields.hpp"

namespace conclave::protocols::detail {

inline constexpr std::array<std::string_view, 4> pll_variables{"count", "level_Q", "rand",
                                                               "level_B"};

// Which of them the agent has; new agents have none, and it is 0.
template <class State>
constexpr std::size_t pll_variable(const State& s) {
  if (!s.is_a()) return 0;
  return s.epoch < 3 ? s.epoch : 3;
}

// " status=2 " and " status=B ": what to_text writes and what it means, with blanks around it.
using PllWord = std::pair<std::string_view, std::string_view>;

inline void replace_word(std::string& text, const std::string& from, const std::string& to) {
  if (const auto place = text.find(from); place != text.npos) text.replace(place, from.size(), to);
}

// "leader=0 status=A epoch=2 color=0 done=1 rand=5"; every state has a name of its own.
template <class State>
std::string pll_name(const State& state, const auto& words) {
  std::string text = ' ' + to_text(state);
  for (const auto& [number, letter] : words) {
    replace_word(text, std::string(number), std::string(letter));
  }
  const std::string name(pll_variables[pll_variable(state)]);
  replace_word(text, " variable=", ' ' + name + '=');
  return text.substr(1);
}

// The state of that name, also as earlier versions wrote it, with `variable` and numbers.
template <class State>
std::optional<State> pll_state(std::string_view name, const auto& words) {
  std::string text = ' ' + std::string(name);
  for (const auto& [number, letter] : words) {
    replace_word(text, std::string(letter), std::string(number));
  }
  for (const std::string_view each : pll_variables) {
    replace_word(text, ' ' + std::string(each) + '=', " variable=");
  }
  const auto state = from_text<State>(std::string_view(text).substr(1));
  const bool is_old = name.find("variable=") != name.npos;
  if (!state || (!is_old && pll_name(*state, words) != name)) return std::nullopt;
  return state;
}

// A table of agents has a column per name; those that an agent does not have are 0.
template <class State, class Column>
void add_pll_columns(const auto& words, std::vector<Column>& columns) {
  const auto add = [&](const auto& field) {
    if (field.name == "variable") return;
    Column& column = columns.emplace_back(Column{std::string(field.name)});
    const std::string head = ' ' + std::string(field.name) + '=';
    for (const auto& [number, letter] : words) {
      if (!letter.starts_with(head)) continue;
      column.labels.emplace_back(letter.substr(head.size(), letter.size() - head.size() - 1));
    }
  };
  std::apply([&](const auto&... field) { (add(field), ...); }, State::fields);
  for (const std::string_view each : pll_variables) columns.push_back({std::string(each)});
}
template <class State>
void append_pll_values(const State& state, std::vector<double>& values) {
  const auto append = [&](const auto& field) {
    if (field.name == "variable") return;
    values.push_back(static_cast<double>(as_integer(state.*field.member)));
  };
  std::apply([&](const auto&... field) { (append(field), ...); }, State::fields);
  for (std::size_t i = 0; i < pll_variables.size(); ++i) {
    values.push_back(i == pll_variable(state) ? static_cast<double>(state.variable) : 0);
  }
}

}  // namespace conclave::protocols::detail
