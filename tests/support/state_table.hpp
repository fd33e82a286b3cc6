// Numbers the states of a protocol and remembers what becomes of each ordered pair of them: the
// protocol's own transition function, run through all its random choices.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "conclave/model/population.hpp"

#include "tests/support/every_choice.hpp"

namespace conclave::tests {

template <PopulationProtocol P>
class StateTable {
 public:
  using State = typename P::State;
  using Number = std::uint32_t;

  struct Result {
    Number u;
    Number v;
    double weight;
  };

  explicit StateTable(const P& protocol) : protocol_(protocol) {}

  const P& protocol() const { return protocol_; }
  std::size_t size() const { return states_.size(); }
  const State& state(Number number) const { return states_[number]; }
  const std::vector<State>& states() const { return states_; }

  // The number of a state; new states are numbered in the order in which they are met.
  Number number(const State& state) {
    const auto [entry, is_new] = numbers_.try_emplace(key(state), static_cast<Number>(size()));
    if (is_new) states_.push_back(state);
    return entry->second;
  }

  // All outcomes when state u initiates and state v responds; computed once.
  const std::vector<Result>& meet(Number u, Number v) {
    const auto [entry, is_new] = results_.try_emplace({u, v});
    if (is_new) entry->second = outcomes(u, v);
    return entry->second;
  }

  // Meets all pairs of known states until no new state appears.
  void close() {
    for (Number u = 0; u < size(); ++u) {
      for (Number v = 0; v <= u; ++v) {
        meet(u, v);
        meet(v, u);
      }
    }
  }

 private:
  static constexpr std::size_t fields = std::tuple_size_v<decltype(State::fields)>;
  using Key = std::array<std::int64_t, fields>;

  static Key key(const State& state) {
    return std::apply(
        [&](const auto&... field) {
          return Key{static_cast<std::int64_t>(state.*field.member)...};
        },
        State::fields);
  }

  std::vector<Result> outcomes(Number u, Number v) {
    std::vector<Result> results;
    EveryChoice choice;
    do {
      State new_u = states_[u];
      State new_v = states_[v];
      protocol_.interact(new_u, new_v, choice);
      results.push_back({number(new_u), number(new_v), choice.weight()});
    } while (choice.next());
    return results;
  }

  P protocol_;
  std::vector<State> states_;
  std::map<Key, Number> numbers_;
  std::map<std::pair<Number, Number>, std::vector<Result>> results_;
};

// All states that the closure of the transition function makes from the initial ones.
template <PopulationProtocol P>
StateTable<P> reachable_states(const P& protocol, std::size_t start = 0) {
  StateTable<P> table(protocol);
  EveryChoice choice;
  do {
    table.number(protocol.initial(start, 0, choice));
  } while (choice.next());
  table.close();
  return table;
}

}  // namespace conclave::tests
