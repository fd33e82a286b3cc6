// Numbers the states of a protocol, modulo a congruence if there is one, and runs the protocol's
// transition function through all outcomes of its random choices.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "conclave/exact/pair_outcomes.hpp"
#include "conclave/exact/weight.hpp"
#include "conclave/model/oracle.hpp"
#include "conclave/model/population.hpp"

namespace conclave::exact {

// Keeps a copy of the protocol. `normal_form` maps a state to the representative of its class;
// empty: each state represents itself.
template <PopulationProtocol P>
class StateTable final : public PairOutcomes {
 public:
  using State = typename P::State;
  using NormalForm = std::function<State(const State&)>;

  explicit StateTable(P protocol, NormalForm normal_form = {})
      : protocol_(std::move(protocol)), normal_form_(std::move(normal_form)) {}

  const P& protocol() const { return protocol_; }
  std::size_t size() const { return states_.size(); }
  const State& state(StateNumber number) const { return states_[number]; }
  const std::vector<State>& states() const { return states_; }

  // The number of a state's normal form. New ones are numbered in the order in which they are
  // first asked for. O(log size).
  StateNumber number(const State& state) {
    const State normal = normal_form_ ? normal_form_(state) : state;
    const auto [entry, is_new] =
        numbers_.try_emplace(key(normal), static_cast<StateNumber>(size()));
    if (is_new) states_.push_back(normal);
    return entry->second;
  }

  // Computes the outcomes of all pairs of known states until no new state appears. O(size^2)
  // interactions.
  void close() {
    for (StateNumber u = 0; u < size(); ++u) {
      for (StateNumber v = 0; v <= u; ++v) {
        close(u, v);
        close(v, u);
      }
    }
  }

  Told told_in(std::span<const StateNumber> configuration) const override {
    if constexpr (AsksOracle<P>) {
      const auto leads = [this](StateNumber s) { return protocol_.role(state(s)) == Role::leader; };
      if (std::ranges::none_of(configuration, leads)) return Told::leaderless;
    }
    return Told::nothing;
  }

 protected:
  std::vector<PairOutcome> compute(StateNumber u, StateNumber v, Told told) override {
    const State old_u = states_[u];
    const State old_v = states_[v];
    std::vector<PairOutcome> results;
    EveryWeightedChoice choice;
    do {
      State new_u = old_u;
      State new_v = old_v;
      interact(new_u, new_v, choice, told);
      const bool changes = protocol_.role(new_u) != protocol_.role(old_u) ||
                           protocol_.role(new_v) != protocol_.role(old_v);
      results.push_back({number(new_u), number(new_v), choice.weight(), changes});
    } while (choice.next());
    return results;
  }

 private:
  using Key = std::array<std::int64_t, std::tuple_size_v<decltype(State::fields)>>;

  void close(StateNumber u, StateNumber v) {
    outcomes(u, v);
    if constexpr (AsksOracle<P>) outcomes(u, v, Told::leaderless);
  }

  void interact(State& u, State& v, EveryWeightedChoice& choice, Told told) const {
    if constexpr (AsksOracle<P>) {
      if (told == Told::leaderless) return protocol_.interact_leaderless(u, v, choice);
    }
    protocol_.interact(u, v, choice);
  }

  static Key key(const State& state) {
    return std::apply(
        [&](const auto&... field) {
          return Key{static_cast<std::int64_t>(state.*field.member)...};
        },
        State::fields);
  }

  P protocol_;
  NormalForm normal_form_;
  std::vector<State> states_;
  std::map<Key, StateNumber> numbers_;
};

// All states that `arbitrary` can return, each as often as outcomes of its choices lead to it.
template <SelfStabilizing P>
std::vector<typename P::State> arbitrary_states(const P& protocol) {
  std::vector<typename P::State> all;
  EveryWeightedChoice choice;
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
  EveryWeightedChoice choice;
  do {
    table.number(protocol.initial(start, 0, choice));
  } while (choice.next());
  table.close();
  return table;
}

}  // namespace conclave::exact
