// A protocol that is given by tables alone: what engine gpu makes of a protocol file. The tables
// hold the result of every ordered pair of states, the outcomes of those on which chance decides,
// the sets that a state is counted in, an initial configuration, and the conditions under which a
// trial ends, as code for the register machine.
//
// The trial is that of the file: chance decides between an outcome and those that follow, with the
// same draws in the same order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <vector>

#include "conclave/gpu/engine.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/register_machine.hpp"

namespace conclave::gpu {

// The tables, as their maker fills them. States are numbered from 0 and fewer than 2^15.
struct Tables {
  static constexpr std::size_t most_sets = RegisterMachine::most_counts;
  using Code = std::vector<RegisterMachine::Instruction>;

  struct Reaction {
    std::uint32_t first;  // of the outcomes
    std::uint32_t outcomes;
    std::uint64_t total;  // with what its outcomes leave of this weight, nothing happens
  };
  // A pair of new states, and its weight out of the reaction's total.
  struct Outcome {
    std::uint32_t u;
    std::uint32_t v;
    std::uint64_t weight;
  };

  std::uint32_t states = 0;
  // By ordered pair, row u begins at u * states: new_u + new_v * 2^15, or 2^31 and a reaction.
  std::vector<std::uint32_t> entries{};
  std::vector<Reaction> reactions{};
  std::vector<Outcome> outcomes{};
  std::vector<std::uint64_t> words{};  // by state: byte i is 1 if it is in set i; set 0 leads
  // The start: agents before start_ends[i], and after those of i - 1, are in start_states[i]. Both
  // are empty where every agent is in a random state of its own.
  std::vector<AgentCount> start_ends{};
  std::vector<std::uint32_t> start_states{};
  // The conditions: code that never gives up, whose result is 1 where they hold.
  Code stop{};
  Code fail{};  // empty: never
};

// Word is the unsigned type that holds the number of a state. Views the tables, which must outlive
// it.
template <class Word>
class TableProtocol {
 public:
  struct State {
    Word index = 0;
    friend bool operator==(const State&, const State&) = default;
    static constexpr std::tuple fields{Field{"state", &State::index}};
  };

  // Views the tables, which must outlive it.
  explicit TableProtocol(const Tables& tables)
      : states_(tables.states),
        entries_(tables.entries),
        reactions_(tables.reactions),
        outcomes_(tables.outcomes),
        words_(tables.words),
        start_ends_(tables.start_ends),
        start_states_(tables.start_states),
        stop_(tables.stop),
        fail_(tables.fail) {}

  // Calls visit(first, count) for every table, with a reference to the pointer to its first item:
  // an engine that copies the tables sets it to its copy.
  template <class Visit>
  void for_each_table(Visit visit) {
    visit(entries_.first, entries_.count);
    visit(reactions_.first, reactions_.count);
    visit(outcomes_.first, outcomes_.count);
    visit(words_.first, words_.count);
    visit(start_ends_.first, start_ends_.count);
    visit(start_states_.first, start_states_.count);
    visit(stop_.first, stop_.count);
    visit(fail_.first, fail_.count);
  }

  constexpr State initial(std::size_t, AgentCount agent, Choice auto& choice) const {
    if (start_ends_.count == 0) return state_of(choice.below(states_));
    std::size_t group = 0;
    for (std::size_t step = start_ends_.count; step > 1;) {  // the first that ends after the agent
      const std::size_t half = step / 2;
      if (start_ends_.first[group + half - 1] <= agent) group += half;
      step -= half;
    }
    return state_of(start_states_.first[group]);
  }

  constexpr void interact(State& u, State& v, Choice auto& choice) const {
    const std::uint32_t entry = entries_.first[std::size_t{u.index} * states_ + v.index];
    if (entry >> 31 == 0) {
      u = state_of(entry & 0x7fff);
      v = state_of(entry >> 15);
      return;
    }
    const Tables::Reaction reaction = reactions_.first[entry & 0x7fffffff];
    std::uint64_t left = reaction.total;
    for (std::uint32_t i = reaction.first; i < reaction.first + reaction.outcomes; ++i) {
      const Tables::Outcome outcome = outcomes_.first[i];
      if (decides(outcome.weight, left, choice)) {
        u = state_of(outcome.u);
        v = state_of(outcome.v);
        return;
      }
      left -= outcome.weight;
    }
  }

  constexpr Role role(const State& state) const {
    return (word_of(state) & 1) != 0 ? Role::leader : Role::follower;
  }

  class Tally {
   public:
    explicit constexpr Tally(const TableProtocol& protocol) : protocol_(&protocol) {}

    constexpr void add(const State& state, AgentCount count = 1) {
      change(protocol_->word_of(state), static_cast<std::uint32_t>(count));
    }
    constexpr void remove(const State& state, AgentCount count) {
      change(protocol_->word_of(state), 0u - static_cast<std::uint32_t>(count));
    }
    constexpr void replace(const State& u, const State& v, const State& new_u, const State& new_v) {
      remove(u, 1);
      remove(v, 1);
      add(new_u);
      add(new_v);
    }
    constexpr bool is_counted(const State& u, const State& v, const State& new_u,
                              const State& new_v) const {
      return protocol_->word_of(u) + protocol_->word_of(v) !=
             protocol_->word_of(new_u) + protocol_->word_of(new_v);
    }
    AgentCount changes_to_stop() const { return 0; }  // not known

    constexpr AgentCount leaders() const { return counts_[0]; }
    constexpr bool converged() const { return protocol_->holds(protocol_->stop_, counts_); }
    constexpr bool hopeless() const {
      return protocol_->fail_.count != 0 && !converged() &&
             protocol_->holds(protocol_->fail_, counts_);
    }
    // The sets in their order, without names: the file makes its observables of them.
    std::vector<Observation> observations() const {
      std::vector<Observation> counts;
      for (const std::uint32_t count : counts_) counts.push_back({{}, std::uint64_t{count}});
      return counts;
    }

   private:
    constexpr void change(std::uint64_t word, std::uint32_t count) {
      for (std::size_t set = 0; set < Tables::most_sets; ++set) {
        if ((word >> (8 * set) & 1) != 0) counts_[set] += count;
      }
    }

    const TableProtocol* protocol_;
    std::uint32_t counts_[Tables::most_sets] = {};  // NOLINT: plain, for devices
  };

 private:
  template <class T>
  struct View {
    View(const std::vector<T>& items) : first(items.data()), count(items.size()) {}
    const T* first;
    std::size_t count;
  };

  static constexpr State state_of(std::uint32_t index) { return {static_cast<Word>(index)}; }
  constexpr std::uint64_t word_of(const State& state) const { return words_.first[state.index]; }

  // True with probability p / q.
  static constexpr bool decides(std::uint64_t p, std::uint64_t q, Choice auto& choice) {
    if (q <= 0xffffffff) {
      return choice.chance(static_cast<std::uint32_t>(p), static_cast<std::uint32_t>(q));
    }
    if constexpr (requires { choice.below64(q); }) {
      return choice.below64(q) < p;
    } else {
      return below64(choice, q) < p;
    }
  }

  constexpr bool holds(const View<RegisterMachine::Instruction>& condition,
                       const std::uint32_t* counts) const {
    using Machine = RegisterMachine;
    std::uint64_t words[Machine::word_count];  // NOLINT: plain, for devices
    words[Machine::u_word] = 0;
    for (std::size_t set = 0; set < Tables::most_sets; ++set) {
      words[Machine::first_count + set] = counts[set];
    }
    return Machine::run(condition.first, words) && words[Machine::result_word] != 0;
  }

  std::uint32_t states_;
  View<std::uint32_t> entries_;
  View<Tables::Reaction> reactions_;
  View<Tables::Outcome> outcomes_;
  View<std::uint64_t> words_;
  View<AgentCount> start_ends_;
  View<std::uint32_t> start_states_;
  View<RegisterMachine::Instruction> stop_;
  View<RegisterMachine::Instruction> fail_;
};

// See MakeEngine; the protocol is a TableProtocol of that many bits. Null without a CUDA compiler.
std::unique_ptr<Engine> engine_of_table_8(const void* protocol, unsigned device);
std::unique_ptr<Engine> engine_of_table_16(const void* protocol, unsigned device);

}  // namespace conclave::gpu
