// The species of a protocol: what engines ask of its states, transitions and tally by numbers.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "conclave/base/check.hpp"
#include "conclave/base/every_choice.hpp"
#include "conclave/base/fields.hpp"
#include "conclave/base/random.hpp"
#include "conclave/model/fault.hpp"
#include "conclave/model/oracle.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/starting_census.hpp"
#include "conclave/model/tally.hpp"
#include "conclave/population/agent_table.hpp"
#include "conclave/population/detail/reaction.hpp"
#include "conclave/population/detail/species.hpp"
#include "conclave/population/detail/state_index.hpp"
#include "conclave/population/detail/tally_host.hpp"
#include "conclave/population/trial_engine.hpp"

namespace conclave::population::detail {

// The states that some agent is in, with how many, given their number by species.
template <class State>
Census<State> census_by_species(const StateIndex<State>& states,
                                const std::vector<AgentCount>& counts) {
  Census<State> result;
  for (SpeciesId id = 0; id < counts.size(); ++id) {
    if (counts[id] != 0) result.emplace_back(states.state(id), counts[id]);
  }
  return result;
}

// `states` must outlive it.
template <PopulationProtocol P>
class SpeciesTallyOf final : public SpeciesTally {
 public:
  using State = typename P::State;
  using Tally = typename TallyFor<P>::type;

  SpeciesTallyOf(const StateIndex<State>& states, Tally tally)
      : states_(states), tally_(std::move(tally)) {}

  const Tally& tally() const { return tally_; }
  void set(const Tally& tally) { tally_ = tally; }
  // Takes over what another one has observed.
  void inherit(const Tally& other) {
    if constexpr (requires { tally_.inherit(other); }) tally_.inherit(other);
  }

  void add(SpeciesId id, AgentCount count) override { detail::add_to(tally_, state(id), count); }
  void remove(SpeciesId id, AgentCount count) override {
    if constexpr (CensusTallyOf<Tally, P>) tally_.remove(state(id), count);
  }
  TallyStanding replace(SpeciesId u, SpeciesId v, SpeciesId new_u, SpeciesId new_v,
                        Watch watch) override {
    tally_.replace(state(u), state(v), state(new_u), state(new_v));
    return SpeciesTallyOf::standing(watch);
  }
  void hold() override {
    if constexpr (MeasuresHolding<P>) tally_.hold();
  }

  AgentCount leaders() const override { return tally_.leaders(); }
  bool converged() const override { return tally_.converged(); }
  bool hopeless() const override { return tally_.hopeless(); }
  bool violated() const override {
    if constexpr (MeasuresHolding<P>) return tally_.violated();
    return false;
  }
  TallyStanding standing(Watch watch) const override {
    return {has_happened<P>(watch, tally_), detail::milestone(tally_)};
  }
  AgentCount changes_to_stop(Watch watch) const override {
    return detail::changes_to_stop(tally_, watch);
  }
  std::vector<Observation> observations(const std::vector<AgentCount>& counts) const override {
    if constexpr (requires { tally_.needs_census(); }) {
      if (tally_.needs_census()) return tally_.observations(census_by_species(states_, counts));
    }
    return tally_.observations();
  }

 private:
  const State& state(SpeciesId id) const { return states_.state(id); }

  const StateIndex<State>& states_;
  Tally tally_;
};

template <PopulationProtocol P>
class SpeciesOf final : public Species {
 public:
  using State = typename P::State;
  using Tally = typename TallyFor<P>::type;
  static_assert(TallyOf<Tally, P> && !AsksOracle<P>);

  // Without agents.
  explicit SpeciesOf(const P& protocol)
      : Species(CensusTallyOf<Tally, P>, detail::has_milestones<Tally>),
        shared_(std::make_shared<const P>(protocol)),
        protocol_(*shared_) {
    put_tally(Moment::now, Tally(protocol_));
  }

  SpeciesOf(const P& protocol, AgentCount n, const StartingPoint<State>& start,
            const StreamName& name)
      : SpeciesOf(protocol) {
    Stream choice(name.with(Purpose::start));
    for_each_starting_state(protocol_, start, n, choice,
                            [this](const State& s, AgentCount count) { add_agents(s, count); });
  }

  SpeciesOf(const P& protocol, const Census<State>& census) : SpeciesOf(protocol) {
    for (const auto& [state, count] : census) add_agents(state, count);
  }

  std::unique_ptr<Species> copy() const override {
    return std::unique_ptr<Species>(new SpeciesOf(*this));
  }

  const P& protocol() const { return protocol_; }
  const State& state(SpeciesId id) const { return index_.state(id); }
  Census<State> census(const std::vector<AgentCount>& counts) const {
    return census_by_species(index_, counts);
  }
  // The number of a state; one met for the first time gets the next.
  SpeciesId id_of(const State& state) {
    const SpeciesId id = index_.id_of(state);
    set_size(index_.size());
    return id;
  }

  Pair interact(SpeciesId u, SpeciesId v, Stream& choice) override {
    State new_u = state(u);
    State new_v = state(v);
    protocol_.interact(new_u, new_v, choice);
    return ids_after(u, v, new_u, new_v);
  }
  Pair interact_after_jump(SpeciesId u, SpeciesId v, Stream& choice) override {
    State new_u = state(u);
    State new_v = state(v);
    detail::interact_after_jump(protocol_, new_u, new_v, choice);
    return ids_after(u, v, new_u, new_v);
  }
  std::uint32_t jump_scale() const override { return detail::jump_scale(protocol_); }
  std::uint32_t jump_weight(SpeciesId u, SpeciesId v) const override {
    return detail::pair_weight(protocol_, state(u), state(v), true);
  }
  void weigh_pairs(SpeciesId id, const std::vector<SpeciesId>& others,
                   PairWeights& weights) const override {
    weights.initiating.clear();
    weights.responding.clear();
    for (const SpeciesId other : others) {
      weights.initiating.push_back(weight(state(id), state(other)));
      weights.responding.push_back(weight(state(other), state(id)));
    }
  }
  bool comes_before(SpeciesId a, SpeciesId b) const override {
    return conclave::comes_before(state(a), state(b));
  }

  bool can_hit(const Fault& fault, SpeciesId id) const override {
    return detail::can_hit(protocol_, fault, state(id));
  }
  SpeciesId struck(const Fault& fault, SpeciesId id, Stream& choice) override {
    if constexpr (Corruptible<P>) {
      return id_of(detail::struck(protocol_, fault, state(id), choice));
    } else {
      return id;
    }
  }

  const Tally& own_tally() const { return tallies_[0]->tally(); }
  // Takes over what the tally of another engine has observed.
  void inherit(const Tally& other) { tallies_[0]->inherit(other); }
  void copy_tally(Moment from, Moment to) override {
    put_tally(to, tallies_[static_cast<std::size_t>(from)]->tally());
  }
  void recount(const std::vector<AgentCount>& counts) override {
    const Tally old = own_tally();
    put_tally(Moment::now, Tally(protocol_));
    for (SpeciesId id = 0; id < counts.size(); ++id) {
      if (counts[id] != 0) tallies_[0]->add(id, counts[id]);
    }
    inherit(old);
  }
  bool measures_holding() const override {
    if constexpr (MeasuresHolding<P>) return protocol_.measures_holding();
    return false;
  }

  std::vector<NamedCount> named(const std::vector<AgentCount>& counts) const override {
    return named_in_order(protocol_, census(counts));
  }
  AgentTable table(const std::vector<AgentCount>& counts) const override {
    return table_of_census(protocol_, census(counts));
  }

 private:
  SpeciesOf(const SpeciesOf& other)
      : Species(other), shared_(other.shared_), protocol_(*shared_), index_(other.index_) {
    for (std::size_t i = 0; i < moments; ++i) {
      if (other.tallies_[i]) put_tally(static_cast<Moment>(i), other.tallies_[i]->tally());
    }
  }

  void put_tally(Moment moment, const Tally& tally) {
    std::optional<SpeciesTallyOf<P>>& place = tallies_[static_cast<std::size_t>(moment)];
    if (place) return place->set(tally);
    set_tally(moment, place.emplace(index_, tally));
  }

  std::uint32_t weight(const State& u, const State& v) const {
    return detail::pair_weight(protocol_, u, v, reacts(protocol_, u, v));
  }
  Pair ids_of(const State& u, const State& v) {
    const SpeciesId id = id_of(u);
    return {id, id_of(v)};
  }
  // The same of agents that were of species u and v, and often still are, or have changed places.
  Pair ids_after(SpeciesId u, SpeciesId v, const State& new_u, const State& new_v) {
    const SpeciesId id_u = new_u == state(u) ? u : new_u == state(v) ? v : id_of(new_u);
    const SpeciesId id_v = new_v == state(v) ? v : new_v == state(u) ? u : id_of(new_v);
    return {id_u, id_v};
  }

  void add_agents(const State& state, AgentCount count) {
    if (count == 0) return;
    const SpeciesId id = id_of(state);
    add_first(id, count);
    tallies_[0]->add(id, count);
  }

  void keep_states(const std::vector<SpeciesId>& kept) override { index_.keep(kept); }

  Outcome evaluate(SpeciesId u, SpeciesId v) override {
    const State before_u = state(u);
    const State before_v = state(v);
    const auto [new_u, new_v, is_certain] = result_of_meeting(protocol_, before_u, before_v);
    if (!is_certain) return evaluate_every_choice(before_u, before_v, is_remembered(u, v));
    Outcome result{.kind = Outcome::Kind::certain};
    result.u = id_of(new_u);
    result.v = id_of(new_v);
    note(result, before_u, before_v, new_u, new_v);
    return result;
  }

  // A distribution is drawn up only for what will be remembered.
  Outcome evaluate_every_choice(const State& u, const State& v, bool is_remembered) {
    EveryChoice<BranchWeight> choice;
    Outcome result{.kind = Outcome::Kind::too_many};
    std::vector<Drawn> drawn;
    do {
      State new_u = u;
      State new_v = v;
      protocol_.interact(new_u, new_v, static_cast<VirtualChoice&>(choice));
      const auto [id_u, id_v] = ids_of(new_u, new_v);
      drawn.push_back({id_u, id_v, choice.weight()});
      note(result, u, v, new_u, new_v);
    } while (choice.next() && drawn.size() <= most_branches);
    if (drawn.size() <= most_branches) {
      if (is_remembered) list_branches(result, drawn);
    } else {
      expect_anything(result);
    }
    return result;
  }

  // Where not all outcomes were looked at, anything may happen.
  static void expect_anything(Outcome& outcome) {
    outcome.changes = outcome.is_counted = true;
    if constexpr (detail::has_milestones<Tally>) {
      outcome.milestone = std::numeric_limits<std::uint8_t>::max();
    }
  }

  void note(Outcome& outcome, const State& u, const State& v, const State& new_u,
            const State& new_v) const {
    const Tally& tally = own_tally();
    outcome.changes |= !(u == new_u) || !(v == new_v);
    outcome.is_counted |= is_counted(tally, u, v, new_u, new_v);
    outcome.milestone = std::max(outcome.milestone, milestone_of(tally, new_u, new_v));
  }

  std::shared_ptr<const P> shared_;  // by copies: their tallies may look at it
  const P& protocol_;
  StateIndex<State> index_;
  std::array<std::optional<SpeciesTallyOf<P>>, moments> tallies_;
};

}  // namespace conclave::population::detail
