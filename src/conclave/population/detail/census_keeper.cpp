#include "conclave/population/detail/census_keeper.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "conclave/base/variates.hpp"

namespace conclave::population::detail {

CensusKeeper::CensusKeeper(std::unique_ptr<Species> species, AgentCount n, const StreamName& name)
    : SpeciesHost(std::move(species), n, name), census_(species_->take_first_counts()) {}

AgentCount CensusKeeper::strike_census(const Fault& fault) {
  AgentCount left = candidates(fault);
  AgentCount to_hit = fault.agents_hit(n_, left);
  const AgentCount hit = to_hit;
  const std::vector<AgentCount> before = census_;
  for (SpeciesId id = 0; id < before.size(); ++id) {
    if (!species_->can_hit(fault, id)) continue;
    const AgentCount count = hypergeometric(left, before[id], to_hit, fault_choice_);
    left -= before[id];
    to_hit -= count;
    strike_species(fault, id, count);
  }
  species_->recount(census_);
  look_at_tally();
  return hit;
}

void CensusKeeper::strike_species(const Fault& fault, SpeciesId id, AgentCount count) {
  census_[id] -= count;
  if (fault.kind != FaultKind::corrupt && count != 0) {  // the same for all
    count_of(species_->struck(fault, id, fault_choice_)) += count;
    return;
  }
  for (AgentCount i = 0; i < count; ++i) ++count_of(species_->struck(fault, id, fault_choice_));
}

void CensusKeeper::update_ranks() {
  if (active_.size() > 2 * occupied() + 16) forget_empty_species();
  census_.resize(species_->size());
  rank_of_.resize(species_->size(), no_rank);
  for (SpeciesId id = 0; id < census_.size(); ++id) {
    if (census_[id] != 0 && rank_of_[id] == no_rank) add_rank(id);
  }
  census_.resize(species_->size());  // those that meetings of the new ones will make
}

std::size_t CensusKeeper::occupied() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(active_, [this](SpeciesId id) { return census_[id] != 0; }));
}

void CensusKeeper::add_rank(SpeciesId id) {
  const auto rank = static_cast<std::uint32_t>(active_.size());
  active_.push_back(id);
  rank_of_[id] = rank;
  ++version_;
  for (std::uint32_t other = 0; other < rank; ++other) {
    list_if_watchable(rank, other);
    list_if_watchable(other, rank);
  }
  list_if_watchable(rank, rank);
  rank_of_.resize(species_->size(), no_rank);
}

void CensusKeeper::forget_empty_species() {
  watchable_.clear();
  active_.clear();  // the occupied ones come back in the order of their numbers
  ++version_;
  const auto occupied = static_cast<std::size_t>(
      std::ranges::count_if(census_, [](AgentCount count) { return count != 0; }));
  if (species_->size() > 4 * occupied + 256) renumber_species();
  rank_of_.assign(species_->size(), no_rank);
}

void CensusKeeper::renumber_species() {
  std::vector<SpeciesId> kept;
  std::vector<AgentCount> census;
  for (SpeciesId id = 0; id < census_.size(); ++id) {
    if (census_[id] == 0) continue;
    kept.push_back(id);
    census.push_back(census_[id]);
  }
  species_->keep(kept);
  census_ = std::move(census);
}

void CensusKeeper::list_if_watchable(std::uint32_t u, std::uint32_t v) {
  const Outcome outcome = species_->outcome(active_[u], active_[v]);
  if (!outcome.is_counted && outcome.milestone <= milestone()) return;
  watchable_.push_back({u, v, outcome.is_counted, outcome.milestone});
}

}  // namespace conclave::population::detail
