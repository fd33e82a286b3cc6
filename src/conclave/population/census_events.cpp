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
  for (SpeciesId id = 0; id < first.size(); ++id) change(place_of(id), first[id]);
  draw_next_event();
}

AgentCount CensusEventsEngine::strike(const Fault& fault) {
  std::vector<AgentCount> left;
  for (const Kind& each : kinds_) {
    left.push_back(species_->can_hit(fault, each.id) ? each.count : 0);
  }
  AgentCount total = candidates(fault);
  const AgentCount hit = fault.agents_hit(n_, total);
  std::vector<SpeciesId> before;
  for (AgentCount i = 0; i < hit; ++i, --total) {
    AgentCount pick = fault_choice_.below64(total);
    std::size_t place = 0;
    for (; pick >= left[place]; ++place) pick -= left[place];
    --left[place];
    before.push_back(kinds_[place].id);
  }
  for (const SpeciesId id : before) {
    change(place_of(id), 0 - AgentCount{1});
    change(place_of(species_->struck(fault, id, fault_choice_)), 1);
  }
  species_->recount(counts());
  look_at_tally();
  draw_next_event();
  return hit;
}

std::vector<AgentCount> CensusEventsEngine::counts() const {
  std::vector<AgentCount> result(species_->size());
  for (const Kind& each : kinds_) result[each.id] = each.count;
  return result;
}

std::size_t CensusEventsEngine::place_of(SpeciesId id) {
  if (id < places_.size() && places_[id] != no_place) return places_[id];
  return add_kind(id);
}

std::size_t CensusEventsEngine::add_kind(SpeciesId id) {
  drop_empty_kinds();
  const std::size_t place = kinds_.size();
  Kind fresh{id, 0, 0, {}};
  for (Kind& other : kinds_) {
    fresh.weights.push_back(species_->pair_weight(id, other.id));
    fresh.partners += fresh.weights.back() * other.count;
    other.weights.push_back(species_->pair_weight(other.id, id));
  }
  fresh.weights.push_back(species_->pair_weight(id, id));
  kinds_.push_back(std::move(fresh));
  if (places_.size() < species_->size()) places_.resize(species_->size(), no_place);
  places_[id] = static_cast<std::uint32_t>(place);
  return place;
}

void CensusEventsEngine::drop_empty_kinds() {
  if (kinds_.size() < 2 * occupied_ + 64) return;
  for (std::size_t i = kinds_.size(); i-- > 0;) {
    if (kinds_[i].count != 0) continue;
    kinds_.erase(kinds_.begin() + static_cast<std::ptrdiff_t>(i));
    for (Kind& other : kinds_) {
      other.weights.erase(other.weights.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  list_places();
}

void CensusEventsEngine::forget_other_species() {
  std::vector<SpeciesId> kept;
  for (Kind& each : kinds_) {
    kept.push_back(each.id);
    each.id = static_cast<SpeciesId>(kept.size() - 1);
  }
  species_->keep(kept);
  list_places();
}

void CensusEventsEngine::list_places() {
  places_.assign(species_->size(), no_place);
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    places_[kinds_[i].id] = static_cast<std::uint32_t>(i);
  }
}

void CensusEventsEngine::change(std::size_t place, AgentCount count) {
  Kind& changed = kinds_[place];
  occupied_ -= changed.count != 0 ? 1 : 0;
  changed.count += count;
  occupied_ += changed.count != 0 ? 1 : 0;
  for (Kind& each : kinds_) each.partners += each.weights[place] * count;
}

Interactions CensusEventsEngine::pairs_of(std::size_t place) const {
  const Kind& initiators = kinds_[place];
  const AgentCount itself = initiators.count != 0 ? initiators.weights[place] : 0;
  return Interactions(initiators.count) * Interactions(initiators.partners - itself);
}

void CensusEventsEngine::draw_next_event() {
  if (species_->size() > 4 * kinds_.size() + 1024) forget_other_species();
  weight_ = 0u;
  for (std::size_t i = 0; i < kinds_.size(); ++i) weight_ += pairs_of(i);
  no_next_event();
  if (is_silent()) return;
  next_event_after({weight_, all_pairs_});
}

void CensusEventsEngine::react() {
  Interactions pick = below128(schedule_, weight_);
  std::size_t initiator = 0;
  for (;; ++initiator) {
    const Interactions pairs = pairs_of(initiator);
    if (pick < pairs) break;
    pick -= pairs;
  }
  const Kind& initiators = kinds_[initiator];
  AgentCount partner = schedule_.below64(initiators.partners - initiators.weights[initiator]);
  std::size_t responder = 0;
  for (;; ++responder) {
    const AgentCount weight = initiators.weights[responder];
    if (weight == 0) continue;
    const AgentCount others = weight * (kinds_[responder].count - (responder == initiator ? 1 : 0));
    if (partner < others) break;
    partner -= others;
  }
  meet(initiator, responder);
}

void CensusEventsEngine::meet(std::size_t initiator, std::size_t responder) {
  const SpeciesId u = kinds_[initiator].id;
  const SpeciesId v = kinds_[responder].id;
  const auto [new_u, new_v] = species_->interact_after_jump(u, v, choice_);
  change(initiator, 0 - AgentCount{1});
  change(responder, 0 - AgentCount{1});
  change(place_of(new_u), 1);
  change(place_of(new_v), 1);
  species_->tally().replace(u, v, new_u, new_v);
  look_at_tally();
}

}  // namespace conclave::population
