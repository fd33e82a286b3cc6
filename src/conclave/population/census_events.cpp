#include "conclave/population/census_events.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "conclave/base/geometric.hpp"

namespace conclave::population {

CensusEventsEngine::CensusEventsEngine(std::unique_ptr<detail::Species> species, AgentCount n,
                                       const StreamName& name)
    : Jumping(std::move(species), n, name),
      all_pairs_(Interactions(n) * Interactions(n - 1) * Interactions(species_->jump_scale())) {
  const std::vector<AgentCount> first = species_->take_first_counts();
  for (SpeciesId id = 0; id < first.size(); ++id) change(rank_of(id), first[id]);
  draw_next_event();
}

AgentCount CensusEventsEngine::strike(const Fault& fault) {
  std::vector<AgentCount> left;
  for (std::size_t rank = 0; rank < active_.size(); ++rank) {
    left.push_back(species_->can_hit(fault, active_[rank]) ? pairs_.agents(rank) : 0);
  }
  AgentCount total = candidates(fault);
  const AgentCount hit = fault.agents_hit(n_, total);
  std::vector<SpeciesId> before;
  for (AgentCount i = 0; i < hit; ++i, --total) {
    AgentCount pick = fault_choice_.below64(total);
    std::size_t rank = 0;
    for (; pick >= left[rank]; ++rank) pick -= left[rank];
    --left[rank];
    before.push_back(active_[rank]);
  }
  for (const SpeciesId id : before) {
    change(rank_of(id), 0 - AgentCount{1});
    change(rank_of(species_->struck(fault, id, fault_choice_)), 1);
  }
  species_->recount(counts());
  look_at_tally();
  draw_next_event();
  return hit;
}

std::vector<AgentCount> CensusEventsEngine::counts() const {
  std::vector<AgentCount> result(species_->size());
  for (std::size_t rank = 0; rank < active_.size(); ++rank) {
    result[active_[rank]] = pairs_.agents(rank);
  }
  return result;
}

std::size_t CensusEventsEngine::rank_of(SpeciesId id) {
  if (!has_rank(id)) add_rank(id);
  return rank_of_[id];
}

void CensusEventsEngine::add_rank(SpeciesId id) {
  forget_empty_ranks();
  const std::size_t rank = active_.size();
  active_.push_back(id);
  if (id >= rank_of_.size()) rank_of_.resize(species_->size(), no_rank);
  rank_of_[id] = static_cast<std::uint32_t>(rank);
  species_->weigh_pairs(id, active_, weights_);
  pairs_.add_rank([&](std::size_t u, std::size_t v) {
    return u == rank ? weights_.initiating[v] : weights_.responding[u];
  });
}

void CensusEventsEngine::forget_empty_ranks() {
  if (active_.size() < 2 * occupied_ + 64) return;
  std::vector<std::size_t> kept;
  for (std::size_t rank = 0; rank < active_.size(); ++rank) {
    if (pairs_.agents(rank) != 0) kept.push_back(rank);
  }
  pairs_.keep(kept);
  for (std::size_t rank = 0; rank < kept.size(); ++rank) active_[rank] = active_[kept[rank]];
  active_.resize(kept.size());
  list_ranks();
}

void CensusEventsEngine::forget_other_species() {
  species_->keep(active_);
  for (std::size_t rank = 0; rank < active_.size(); ++rank) {
    active_[rank] = static_cast<SpeciesId>(rank);
  }
  list_ranks();
}

void CensusEventsEngine::list_ranks() {
  rank_of_.assign(species_->size(), no_rank);
  for (std::size_t rank = 0; rank < active_.size(); ++rank) {
    rank_of_[active_[rank]] = static_cast<std::uint32_t>(rank);
  }
}

void CensusEventsEngine::change(std::size_t rank, AgentCount difference) {
  occupied_ -= pairs_.agents(rank) != 0 ? 1 : 0;
  pairs_.change(rank, difference);
  occupied_ += pairs_.agents(rank) != 0 ? 1 : 0;
}

void CensusEventsEngine::draw_next_event() {
  if (species_->size() > 4 * active_.size() + 1024) forget_other_species();
  pairs_.update_number();
  no_next_event();
  if (is_silent()) return;
  next_event_after({pairs_.number(), all_pairs_});
}

// While there are few species, outcomes are remembered, which takes less time than to ask the
// protocol; a large table would not lie in a near cache.
[[gnu::always_inline]] inline CensusEventsEngine::Met CensusEventsEngine::meet(SpeciesId u,
                                                                               SpeciesId v) {
  constexpr std::size_t most_bytes = std::size_t{1} << 15;
  bool is_counted = true;
  if (species_->table_bytes() <= most_bytes) {
    const detail::Outcome outcome = species_->outcome(u, v);
    is_counted = outcome.is_counted || outcome.milestone > milestone();
    if (outcome.kind == detail::Outcome::Kind::certain) return {outcome.u, outcome.v, is_counted};
  }
  const auto [new_u, new_v] = species_->interact_after_jump(u, v, choice_);
  return {new_u, new_v, is_counted};
}

[[gnu::always_inline]] inline void CensusEventsEngine::move_one(std::size_t from, std::size_t to) {
  if (from == to) return;
  occupied_ += pairs_.agents(to) == 0 ? 1 : 0;
  pairs_.move_one(from, to);
  occupied_ -= pairs_.agents(from) == 0 ? 1 : 0;
}

void CensusEventsEngine::react() {
  const auto [initiator, responder] = pairs_.pick(schedule_);
  const SpeciesId u = active_[initiator];
  const SpeciesId v = active_[responder];
  const Met met = meet(u, v);
  const bool have_swapped = met.u == v && met.v == u;  // the census stays as it is
  if (!have_swapped && has_rank(met.u) && has_rank(met.v)) {
    move_one(initiator, rank_of_[met.u]);
    move_one(responder, rank_of_[met.v]);
  } else if (!have_swapped) {
    change(initiator, 0 - AgentCount{1});
    change(responder, 0 - AgentCount{1});
    change(rank_of(met.u), 1);
    change(rank_of(met.v), 1);
  }
  if (met.is_counted) notify_tally(u, v, met.u, met.v);
}

}  // namespace conclave::population
