// A protocol file as a population protocol that every engine runs. Word is the unsigned type that
// holds the number of a state.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "conclave/base/geometric.hpp"
#include "conclave/base/interactions.hpp"
#include "conclave/base/numbers.hpp"
#include "conclave/base/poisson_clock.hpp"
#include "conclave/base/random.hpp"
#include "conclave/model/clock.hpp"
#include "conclave/model/fault.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/starting_census.hpp"
#include "conclave/model/steps.hpp"
#include "conclave/text/compiled.hpp"
#include "conclave/text/condition_tally.hpp"

namespace conclave::text {

// The clock of a trial of a network of reactions: its interactions are the ticks of a Poisson
// process, independent of what happens at them (text/uniformized.hpp).
// It gives the continuous time of the trial with this name; equal names have equal times. Times are
// rounded to doubles.
class ReactionClock final : public Clock {
 public:
  ReactionClock(const StreamName& name, double ticks_per_time) : ticks_(name, ticks_per_time) {}

  Interactions interactions_at(const Fraction& time) override {
    const Interactions ticks = ticks_.points_before(time.as_double());
    return ticks < PoissonClock::most_points ? ticks : Interactions::max();
  }
  // Precondition: at most PoissonClock::most_points interactions.
  double time_after(Interactions interactions) override { return ticks_.time_of(interactions); }
  std::unique_ptr<Clock> copy() const override { return std::make_unique<ReactionClock>(*this); }

 private:
  PoissonClock ticks_;
};

template <class Word>
class TextProtocol {
 public:
  struct State {
    Word index = 0;
    operator StateIndex() const { return index; }  // as the tally and the tables know it
    friend bool operator==(const State&, const State&) = default;
    static constexpr std::tuple fields{conclave::Field{"state", &State::index}};
  };
  static constexpr Topology topology = Topology::any;
  // Small words stand for dense states, which have a table; large ones for states of either kind.
  static constexpr bool is_small = sizeof(Word) <= 2;

  // Up to this many states, jumping over null interactions may cost much less than an array.
  static constexpr StateIndex few_states = 16;

  // `compiled` must outlive the protocol, which engines copy in their inner loops.
  explicit TextProtocol(const Compiled& compiled)
      : compiled_(&compiled),
        table_(compiled_->transitions().table()),
        program_(&compiled_->transitions().program()),
        states_(compiled_->space().size()) {
    CONCLAVE_CHECK(states_ - 1 <= std::numeric_limits<Word>::max());
    CONCLAVE_CHECK(table_ != nullptr || !is_small);
  }

  // As PopulationProtocol requires; agents of one group of the start follow each other.
  State initial(std::size_t start, AgentCount agent, Choice auto& choice) const {
    const CompiledStart& configuration = compiled_->starts()[start];
    if (configuration.is_random) return arbitrary(choice);
    const auto end = std::ranges::upper_bound(configuration.ends, agent);
    const auto group = static_cast<std::size_t>(end - configuration.ends.begin());
    return state_of(configuration.census[group].first);
  }

  // Few of the states of a file with many occur at a time, as a rule.
  static constexpr bool meets_few_states = !is_small;

  // By the table of all pairs, by the program of the rules, or by the rules themselves, whichever
  // knows the pair first; all three agree. Throws Error where a rule makes no sense for the pair.
  void interact(State& u, State& v, Choice auto& choice) const {
    note_rule(u, v, choice);
    if constexpr (!is_small) {
      if (table_ == nullptr) {
        if (!program_->interact(u.index, v.index)) interact_by_rules(u, v, choice);
        return;
      }
    }
    const Transitions::Entry entry = table_[std::size_t{u.index} * states_ + v.index];
    if (entry.is_certain()) [[likely]] {
      u = state_of(entry.u());
      v = state_of(entry.v());
    } else {
      const Outcome outcome = drawn(compiled_->transitions().random_reaction(entry), u, v, choice);
      u = state_of(outcome.u);
      v = state_of(outcome.v);
    }
  }

  [[gnu::always_inline]] void fetch(const State& u, const State& v) const {
    if constexpr (is_small) {
      if (states_ < 256) return;  // such a table is near
      __builtin_prefetch(&table_[std::size_t{u.index} * states_ + v.index]);
    }
  }

  // Whether the state is one of the leaders that the file names; nobody leads where it names none.
  Role role(const State& state) const {
    return compiled_->leads(state.index) ? Role::leader : Role::follower;
  }

  // Calls visit(new_u, new_v, weight, total) for each outcome that changes something; with the rest
  // of the weight nothing happens.
  template <class Visit>
  void for_each_outcome(const State& u, const State& v, Visit&& visit) const {
    const Reaction reaction = compiled_->reaction(u.index, v.index);
    for (const Outcome& each : reaction.outcomes) {
      visit(state_of(each.u), state_of(each.v), each.weight, reaction.total);
    }
  }

  // For engines that jump over null interactions (population/detail/reaction.hpp): pairs of a
  // network of reactions may react rarely, and are weighed. Other files have scale 1.
  std::uint32_t jump_scale() const { return compiled_->jump_scale(); }
  std::uint32_t jump_weight(const State& u, const State& v) const {
    return compiled_->jump_weights()[std::size_t{u.index} * states_ + v.index];
  }
  // The pair has been drawn by its jump_weight. Reacts with the probability that makes this exact,
  // and otherwise leaves both as they are. Needs a table.
  void interact_after_jump(State& u, State& v, Stream& choice) const {
    const Transitions::Entry entry = table_[std::size_t{u.index} * states_ + v.index];
    if (entry.is_certain()) return set(u, v, {entry.u(), entry.v(), 1});
    const Reaction& reaction = compiled_->transitions().random_reaction(entry);
    std::uint64_t reacting = 0;
    for (const Outcome& each : reaction.outcomes) reacting += each.weight;
    // The weight was rounded up, so that a few jumps were in vain.
    const Interactions jumps = Interactions(reaction.total) * Interactions(jump_weight(u, v));
    if (below128(choice, jumps) >= Interactions(reacting) * Interactions(jump_scale())) return;
    std::uint64_t pick = choice.below64(reacting);
    const Outcome* outcome = reaction.outcomes.data();
    for (; pick >= outcome->weight; ++outcome) pick -= outcome->weight;
    set(u, v, *outcome);
  }

  // For the direct method (population/direct_method.hpp): the reactions of a network.
  std::uint64_t channel_total() const requires is_small { return compiled_->channels().total; }
  const std::vector<Channel>& channels() const requires is_small {
    return compiled_->channels().list;
  }
  // Species are numbered as states are.
  std::size_t species_of(const State& state) const { return state.index; }
  State state_of_species(std::size_t species) const { return state_of(species); }

  // The continuous time of a network of reactions.
  bool has_clock() const { return compiled_->is_network(); }
  std::unique_ptr<Clock> clock(const StreamName& name) const {
    if (!has_clock()) return nullptr;
    return std::make_unique<ReactionClock>(name, compiled_->ticks_per_time().as_double());
  }

  bool measures_holding() const { return compiled_->measures_holding(); }
  Interactions state_count() const { return states_; }
  bool is_deterministic() const { return compiled_->transitions().is_deterministic(); }
  bool may_become_null() const { return states_ <= few_states; }
  const Compiled& compiled() const { return *compiled_; }
  // As the file writes it.
  std::string name_of(const State& state) const { return compiled_->space().name(state.index); }

  // The columns of a table of agents (population/agent_table.hpp): the fields, counted from 0.
  template <class Variable>
  void table_variables(std::vector<Variable>& variables) const {
    for (const Field& field : compiled_->space().fields()) {
      std::vector<std::string> labels;
      if (field.is_boolean || !field.values.empty()) {
        for (std::int64_t value = field.low; value <= field.high; ++value) {
          labels.push_back(field.shown(value));
        }
      }
      variables.push_back({field.name, std::move(labels)});
    }
  }
  // The values of the fields, in the order of table_variables.
  void append_values(const State& state, std::vector<double>& values) const {
    for (std::size_t i = 0; i < compiled_->space().fields().size(); ++i) {
      values.push_back(static_cast<double>(compiled_->space().value(i, state.index)));
    }
  }
  // The state of that name, if there is one.
  std::optional<State> state_named(std::string_view name) const {
    const std::optional<StateIndex> index = compiled_->space().state_named(name);
    if (!index) return std::nullopt;
    return state_of(*index);
  }

  std::optional<Census<State>> census(std::size_t start) const {
    const CompiledStart& configuration = compiled_->starts()[start];
    if (configuration.is_random) return std::nullopt;
    Census<State> result;
    for (const auto& [state, count] : configuration.census) {
      result.emplace_back(state_of(state), count);
    }
    return result;
  }

  // Faults. A uniformly random state of all that the fields can express.
  State arbitrary(Choice auto& choice) const {
    const StateSpace& space = compiled_->space();
    if (space.size() != std::numeric_limits<std::uint64_t>::max()) {
      return state_of(space.at(below64(choice, space.size())));
    }
    StateIndex state = 0;
    for (std::size_t i = 0; i < space.fields().size(); ++i) {
      const Field& field = space.fields()[i];
      const auto value = static_cast<std::int64_t>(below64(choice, field.size()));
      state = space.with(state, i, field.low + value);
    }
    return state_of(state);
  }
  // Every field has its first value.
  State zero() const { return {}; }
  // Moves the state to the nearest one of that role, if there is one (StateSpace::nearest).
  void set_role(State& state, Role wanted) const {
    if (role(state) == wanted) return;
    const bool leads = wanted == Role::leader;
    state = state_of(compiled_->space().nearest(
        state.index, [&](StateIndex other) { return compiled_->leads(other) == leads; }));
  }
  // A sentence where faults of this kind make no sense; otherwise empty.
  std::string objection_to(FaultKind kind) const {
    const bool needs_leader = kind == FaultKind::kill_leaders || kind == FaultKind::make_leaders;
    if (!needs_leader || compiled_->has_leader()) return {};
    return compiled_->text().name() + " does not define who leads; add a line such as leader = A";
  }

  // The conditions of the file, checked from the counts that change.
  class Tally : public ConditionTally {
   public:
    explicit Tally(const TextProtocol& protocol) : ConditionTally(protocol.compiled()) {}
    auto words() const {
      return [words = ConditionTally::words()](const State& state) { return words[state.index]; };
    }
    using ConditionTally::observations;
    std::vector<Observation> observations(const Census<State>& census) const {
      return ConditionTally::observations(States(census.begin(), census.end()));
    }
  };

 private:
  static State state_of(StateIndex index) { return {static_cast<Word>(index)}; }
  static void set(State& u, State& v, const Outcome& outcome) {
    u = state_of(outcome.u);
    v = state_of(outcome.v);
  }

  // Makes one decision after the other, each between an outcome and those that follow. Kept out of
  // the engines' inner loops, which it would fill with saved registers.
  [[gnu::noinline]] static Outcome drawn(const Reaction& reaction, State u, State v,
                                         Choice auto& choice) {
    std::uint64_t left = reaction.total;
    for (const Outcome& each : reaction.outcomes) {
      if (decides(each.weight, left, choice)) return each;
      left -= each.weight;
    }
    return {u.index, v.index, left};
  }

  // True with probability p / q.
  static bool decides(std::uint64_t p, std::uint64_t q, Choice auto& choice) {
    if (q <= std::numeric_limits<std::uint32_t>::max()) {
      return choice.chance(static_cast<std::uint32_t>(p), static_cast<std::uint32_t>(q));
    }
    if constexpr (requires { choice.wide_chance(p, q); }) return choice.wide_chance(p, q);
    if constexpr (requires { choice.below64(q); }) return choice.below64(q) < p;
    return below64(choice, q) < p;
  }

  void interact_by_rules(State& u, State& v, Choice auto& choice) const {
    const Outcome outcome = drawn(compiled_->reaction(u.index, v.index), u, v, choice);
    u = state_of(outcome.u);
    v = state_of(outcome.v);
  }

  // The line of the rule that decides; rules of imported files have no line in this one.
  template <class C>
  void note_rule([[maybe_unused]] State u, [[maybe_unused]] State v,
                 [[maybe_unused]] C& choice) const {
    if constexpr (TakesNotes<C>) {
      const Rule* const rule = compiled_->transitions().rule_for(u.index, v.index);
      if (rule != nullptr && rule->place().file == 0) {
        choice.note(std::to_string(rule->place().line));
      }
    }
  }

  const Compiled* compiled_;
  const Transitions::Entry* table_;
  const Program* program_;
  std::uint64_t states_;
};

}  // namespace conclave::text
