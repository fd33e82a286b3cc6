#include "conclave/exact/quotient_violation.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>

namespace conclave::exact {
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
        return '(' + plain.text(u) + ") meets (" + plain.text(v) + ')';
      }
    }
  }
  return std::nullopt;
}

}  // namespace conclave::exact
