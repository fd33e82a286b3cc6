// Numbers the states of a protocol, modulo a congruence if there is one, and runs the protocol's
// transition function through all outcomes of its random choices.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "conclave/base/interactions.hpp"
#include "conclave/base/small_function.hpp"
#include "conclave/exact/pair_outcomes.hpp"
#include "conclave/exact/weight.hpp"
#include "conclave/model/oracle.hpp"
#include "conclave/model/population.hpp"

namespace conclave::exact {

// The states of some protocol by their numbers: everything a verification needs to know about them.
// States are numbered in the order in which they are met.
class NumberedStates : public PairOutcomes {
 public:
  ~NumberedStates() override;

  // The number of states so far.
  std::size_t size() const { return numbers_.size(); }

  // The fields and the output of a state.
  virtual std::string text(StateNumber state) const = 0;
  virtual Role role(StateNumber state) const = 0;
  // The number of the normal form of a state that another table of the same protocol has.
  virtual StateNumber number_like(const NumberedStates& other, StateNumber state) = 0;
  // A table of the same protocol without states, with or without the congruence of this one.
  virtual std::unique_ptr<NumberedStates> empty_table(bool uses_congruence) const = 0;
  // Adds every state that the protocol has; calls visit(state) after each new one. Throws Error if
  // it cannot name them, or if they are more than 4096.
  void add_all_states(const std::function<void(StateNumber)>& visit);
  // The states in which an agent may begin, one for each outcome of its random choices, with the
  // probability of that outcome. `start` is an index among the protocol's starts.
  std::vector<std::pair<StateNumber, Weight>> initial_outcomes(std::size_t start, AgentCount agent);

  // Computes the outcomes of all pairs of known states until no new state appears. O(size^2)
  // interactions; calls before_row() before those of each state.
  void close(const std::function<void()>& before_row);
  std::uint64_t bytes() const override;
  // Whether the protocol uses an oracle.
  virtual bool asks_oracle() const = 0;

 protected:
  // An agent of the protocol in an arbitrary state, which exists only if check_listing returns; an
  // agent of a start; two agents after a meeting; each with these random choices.
  virtual StateNumber arbitrary(VirtualChoice& choice) = 0;
  virtual StateNumber initial(std::size_t start, AgentCount agent, VirtualChoice& choice) = 0;
  struct Met {
    StateNumber u;
    StateNumber v;
    bool changes_output;
  };
  virtual Met meet(StateNumber u, StateNumber v, VirtualChoice& choice, OracleAnswer answer) = 0;
  // Throws Error if the states cannot be listed.
  virtual void check_listing() const = 0;

  std::vector<PairOutcome> compute(StateNumber u, StateNumber v, OracleAnswer answer) final;

  // The number of the state with these fields, and whether it is new. O(log size).
  std::pair<StateNumber, bool> number_of_fields(std::vector<std::int64_t> fields);

 private:
  void close(StateNumber u, StateNumber v);

  std::map<std::vector<std::int64_t>, StateNumber> numbers_;
};

// Throws Error if an agent has too many states for all their pairs to be tried.
void check_listed_states(Interactions states);
[[noreturn]] void refuse_listing(std::string_view protocol);

// Keeps a copy of the protocol. `normal_form` maps a state to the representative of its class;
// empty: each state represents itself.
template <PopulationProtocol P>
class StateTable final : public NumberedStates {
 public:
  using State = typename P::State;
  using NormalForm = SmallFunction<State(const State&)>;

  // Copies the protocol. No state is numbered yet.
  explicit StateTable(P protocol, NormalForm normal_form = {})
      : protocol_(std::move(protocol)), normal_form_(std::move(normal_form)) {}

  // The protocol; the state with a number below size(); all states, by number.
  const P& protocol() const { return protocol_; }
  const State& state(StateNumber number) const { return states_[number]; }
  const std::vector<State>& states() const { return states_; }

  // The number of a state's normal form. New ones are numbered in the order of first use. O(log
  // size).
  StateNumber number(const State& state) {
    const State normal = normal_form_ ? normal_form_(state) : state;
    const auto [number, is_new] = number_of_fields(fields_of(normal));
    if (is_new) states_.push_back(normal);
    return number;
  }

  std::string text(StateNumber state) const override { return to_text(states_[state]); }
  Role role(StateNumber state) const override { return protocol_.role(states_[state]); }
  StateNumber number_like(const NumberedStates& other, StateNumber state) override {
    return number(static_cast<const StateTable&>(other).state(state));
  }
  std::unique_ptr<NumberedStates> empty_table(bool uses_congruence) const override {
    return std::make_unique<StateTable>(protocol_, uses_congruence ? normal_form_ : NormalForm{});
  }

  bool asks_oracle() const override { return AsksOracle<P>; }
  OracleAnswer oracle_answer_in(std::span<const StateNumber> configuration) const override {
    if constexpr (AsksOracle<P>) {
      const auto leads = [this](StateNumber s) { return role(s) == Role::leader; };
      if (std::ranges::none_of(configuration, leads)) return OracleAnswer::leaderless;
    }
    return OracleAnswer::nothing;
  }

 protected:
  StateNumber arbitrary([[maybe_unused]] VirtualChoice& choice) override {
    if constexpr (SelfStabilizing<P>) return number(protocol_.arbitrary(choice));
    return 0;
  }
  StateNumber initial(std::size_t start, AgentCount agent, VirtualChoice& choice) override {
    return number(protocol_.initial(start, agent, choice));
  }
  Met meet(StateNumber u, StateNumber v, VirtualChoice& choice, OracleAnswer answer) override {
    State new_u = states_[u];
    State new_v = states_[v];
    interact(new_u, new_v, choice, answer);
    const bool changes = protocol_.role(new_u) != protocol_.role(states_[u]) ||
                         protocol_.role(new_v) != protocol_.role(states_[v]);
    const StateNumber number_u = number(new_u);
    return {number_u, number(new_v), changes};
  }
  void check_listing() const override {
    if constexpr (!SelfStabilizing<P>) {
      if constexpr (requires { P::info.name; }) refuse_listing(P::info.name);
      refuse_listing("this protocol");
    } else if constexpr (requires { protocol_.state_count(); }) {
      check_listed_states(protocol_.state_count());
    }
  }

 private:
  void interact(State& u, State& v, VirtualChoice& choice, OracleAnswer answer) const {
    if constexpr (AsksOracle<P>) {
      if (answer == OracleAnswer::leaderless) return protocol_.interact_leaderless(u, v, choice);
    }
    protocol_.interact(u, v, choice);
  }

  static std::vector<std::int64_t> fields_of(const State& state) {
    return std::apply(
        [&](const auto&... field) {
          return std::vector<std::int64_t>{static_cast<std::int64_t>(state.*field.member)...};
        },
        State::fields);
  }

  P protocol_;
  NormalForm normal_form_;
  std::vector<State> states_;
};

// Whether states with the same normal form behave alike, so that the chain over normal forms (the
// quotient) has the same hitting times as the chain over states.
//
// The first violation among the states of `plain` and all their ordered pairs, in words: a state
// whose normal form has another output, or two states whose interaction has other outcomes, up to
// normal forms, than that of their normal forms. Nothing if there is none. `plain` is a table
// without, `normal` one with the congruence, of the same protocol. O(states^2) interactions.
std::optional<std::string> quotient_violation(NumberedStates& plain, NumberedStates& normal);

}  // namespace conclave::exact
