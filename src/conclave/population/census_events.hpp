// The `events` engine on the complete graph: keeps the census (how many agents are in which state)
// and jumps from one interaction that changes something to the next with geometric waiting times.
// Exact in law; null interactions are counted. O(k) per effective interaction for k states seen.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "conclave/base/check.hpp"
#include "conclave/base/geometric.hpp"
#include "conclave/base/interactions.hpp"
#include "conclave/base/random.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/starting_census.hpp"
#include "conclave/model/tally.hpp"
#include "conclave/population/detail/jumping.hpp"
#include "conclave/population/detail/reaction.hpp"

namespace conclave::population {

// For 2 to 2^62 agents; memory O(k^2) bytes for k states seen.
template <PopulationProtocol P>
class CensusEvents : public detail::Jumping<CensusEvents<P>, P> {
 public:
  using typename detail::TallyHost<P>::State;
  using typename detail::TallyHost<P>::Tally;
  static constexpr AgentCount most_agents = AgentCount{1} << 62;
  static_assert(TallyOf<Tally, P>);

  CensusEvents(const P& protocol, AgentCount n, StartingPoint<State> start, const StreamName& name)
      : detail::Jumping<CensusEvents<P>, P>(protocol, n, name), n_(n) {
    CONCLAVE_CHECK(n >= 2 && n <= most_agents);
    fill(start, name.with(Purpose::start));
    draw_next_event();
  }

  // A fault; returns how many agents it hit, all sets of that many candidates equally likely.
  AgentCount strike(const Fault& fault) requires Corruptible<P> {
    std::vector<AgentCount> left = candidates_by_species(fault);
    AgentCount total = this->candidates(fault, n_);
    const AgentCount hit = fault.agents_hit(n_, total);
    std::vector<State> before;
    for (AgentCount i = 0; i < hit; ++i, --total) {
      AgentCount pick = this->fault_choice_.below64(total);
      std::size_t index = 0;
      for (; pick >= left[index]; ++index) pick -= left[index];
      --left[index];
      before.push_back(species_[index].state);
    }
    for (const State& state : before) {
      change(species_of(state), 0 - AgentCount{1});
      change(species_of(this->struck(fault, state)), 1);
    }
    recount();
    draw_next_event();
    return hit;
  }

  AgentCount size() const { return n_; }

  // The states that some agent is in, with how many.
  Census<State> census() const {
    Census<State> result;
    for (const Species& each : species_) {
      if (each.count != 0) result.emplace_back(each.state, each.count);
    }
    return result;
  }

 private:
  friend detail::Jumping<CensusEvents<P>, P>;

  // A state with the agents in it and, for each other state, the weight of a meeting (this one
  // initiating; 0: it would change nothing), and with how many agents it could react, weighted.
  struct Species {
    State state;
    AgentCount count;
    AgentCount partners;
    std::vector<detail::PairWeight<P>> weights;
  };

  std::vector<AgentCount> candidates_by_species(const Fault& fault) const {
    std::vector<AgentCount> counts;
    for (const Species& each : species_) {
      counts.push_back(this->can_hit(fault, each.state) ? each.count : 0);
    }
    return counts;
  }

  void recount() {
    Tally fresh = detail::TallyHost<P>::empty_tally(protocol_, n_);
    for (const Species& each : species_) this->add_to(fresh, each.state, each.count);
    this->replace_tally(std::move(fresh));
  }

  void fill(const StartingPoint<State>& start, const StreamName& name) {
    Stream choice(name);
    for_each_starting_state(protocol_, start, n_, choice,
                            [this](const State& s, AgentCount count) { add_agents(s, count); });
  }

  void add_agents(const State& state, AgentCount count) {
    change(species_of(state), count);
    this->add_to(tally_, state, count);
  }

  // The index of a state's species; a state met for the first time becomes a new one.
  std::size_t species_of(const State& state) {
    const auto found = std::ranges::find(species_, state, &Species::state);
    if (found != species_.end()) return static_cast<std::size_t>(found - species_.begin());
    drop_empty_species();
    const std::size_t index = species_.size();
    Species fresh{state, 0, 0, {}};
    for (Species& other : species_) {
      fresh.weights.push_back(weight(state, other.state));
      fresh.partners += fresh.weights.back() * other.count;
      other.weights.push_back(weight(other.state, state));
    }
    fresh.weights.push_back(weight(state, state));
    species_.push_back(std::move(fresh));
    return index;
  }

  detail::PairWeight<P> weight(const State& u, const State& v) const {
    return detail::pair_weight(protocol_, u, v, detail::reacts(protocol_, u, v));
  }

  // Keeps the table small when states come and go. Indices change, so this happens only where none
  // is held: before a new species is made.
  void drop_empty_species() {
    if (species_.size() < 2 * occupied_ + 64) return;
    for (std::size_t i = species_.size(); i-- > 0;) {
      if (species_[i].count != 0) continue;
      species_.erase(species_.begin() + static_cast<std::ptrdiff_t>(i));
      for (Species& other : species_) {
        other.weights.erase(other.weights.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
  }

  // `count` more agents of a species (fewer, modulo 2^64, if it is the negative of a number).
  void change(std::size_t index, AgentCount count) {
    Species& changed = species_[index];
    occupied_ -= changed.count != 0 ? 1 : 0;
    changed.count += count;
    occupied_ += changed.count != 0 ? 1 : 0;
    for (Species& each : species_) each.partners += each.weights[index] * count;
  }

  // Ordered pairs of distinct agents of this initiating species that would react, weighted.
  Interactions pairs_of(const Species& initiators, std::size_t index) const {
    const AgentCount itself = initiators.count != 0 ? initiators.weights[index] : 0;
    return Interactions(initiators.count) * Interactions(initiators.partners - itself);
  }

  bool is_silent() const { return weight_ == 0u; }
  // An event looks at every species several times.
  std::uint64_t work_per_event() const { return 1 + species_.size() / 16; }
  // Drawn when they meet.
  static std::optional<std::pair<AgentCount, AgentCount>> next_agents() { return std::nullopt; }

  void draw_next_event() {
    weight_ = 0u;
    for (std::size_t i = 0; i < species_.size(); ++i) weight_ += pairs_of(species_[i], i);
    this->no_next_event();
    if (is_silent()) return;
    const Interactions all = Interactions(n_) * Interactions(n_ - 1);
    this->next_event_after({weight_, all * Interactions(detail::jump_scale(protocol_))});
  }

  // One of the pairs that react, by weight, meets.
  void react() {
    Interactions pick = below128(schedule_, weight_);
    std::size_t initiator = 0;
    for (;; ++initiator) {
      const Interactions pairs = pairs_of(species_[initiator], initiator);
      if (pick < pairs) break;
      pick -= pairs;
    }
    const Species& initiators = species_[initiator];
    AgentCount partner = schedule_.below64(initiators.partners - initiators.weights[initiator]);
    std::size_t responder = 0;
    for (;; ++responder) {
      const AgentCount weight = initiators.weights[responder];
      if (weight == 0) continue;
      const AgentCount others =
          weight * (species_[responder].count - (responder == initiator ? 1 : 0));
      if (partner < others) break;
      partner -= others;
    }
    meet(initiator, responder);
  }

  void meet(std::size_t initiator, std::size_t responder) {
    const State u = species_[initiator].state;
    const State v = species_[responder].state;
    State new_u = u;
    State new_v = v;
    detail::interact_after_jump(protocol_, new_u, new_v, choice_);
    change(initiator, 0 - AgentCount{1});
    change(responder, 0 - AgentCount{1});
    change(species_of(new_u), 1);
    change(species_of(new_v), 1);
    tally_.replace(u, v, new_u, new_v);
  }

  using detail::TallyHost<P>::choice_;
  using detail::TallyHost<P>::protocol_;
  using detail::TallyHost<P>::tally_;
  using detail::Jumping<CensusEvents<P>, P>::schedule_;

  AgentCount n_;
  std::vector<Species> species_;
  std::size_t occupied_ = 0;
  Interactions weight_;
};

}  // namespace conclave::population
