// The census part of an engine that knows its agents only by how many are in which state: the
// census, the states met so far and their meetings, and those meetings that the tally must be
// notified of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "conclave/base/random.hpp"
#include "conclave/model/fault.hpp"
#include "conclave/model/population.hpp"
#include "conclave/population/detail/species.hpp"
#include "conclave/population/detail/species_host.hpp"

namespace conclave::population::detail {

class CensusKeeper : public SpeciesHost {
 protected:
  // An ordered pair of ranks whose meeting the tally may have to be notified of at its time.
  struct WatchablePair {
    std::uint32_t u;
    std::uint32_t v;
    bool is_counted;
    std::uint8_t milestone;
  };

  // The n agents are those that the species were built with.
  CensusKeeper(std::unique_ptr<Species> species, AgentCount n, const StreamName& name);
  CensusKeeper(const CensusKeeper&) = default;
  ~CensusKeeper() = default;

  // A fault; returns how many agents it hit, all sets of that many candidates equally likely.
  AgentCount strike_census(const Fault& fault);

  // Ranks are a dense numbering of the species that are or were lately occupied. After this, every
  // occupied species has one.
  static constexpr std::uint32_t no_rank = ~std::uint32_t{0};
  void update_ranks();

  const std::vector<SpeciesId>& active() const { return active_; }  // by rank
  std::uint32_t rank_of(SpeciesId id) const {
    return id < rank_of_.size() ? rank_of_[id] : no_rank;
  }
  const std::vector<WatchablePair>& watchable() const { return watchable_; }
  // Changes whenever some rank gets another meaning.
  std::uint64_t version() const { return version_; }

  AgentCount& count_of(SpeciesId id) {
    if (id >= census_.size()) census_.resize(species_->size());
    return census_[id];
  }

  // The species of two agents after they have met.
  std::pair<SpeciesId, SpeciesId> decide(const Outcome& outcome, SpeciesId u, SpeciesId v) {
    if (outcome.kind == Outcome::Kind::certain) [[likely]]
      return {outcome.u, outcome.v};
    return species_->interact(u, v, choice_);
  }

  std::vector<AgentCount> census_;  // by species

 private:
  void strike_species(const Fault& fault, SpeciesId id, AgentCount count);
  std::size_t occupied() const;
  void add_rank(SpeciesId id);
  void forget_empty_species();
  void renumber_species();
  void list_if_watchable(std::uint32_t u, std::uint32_t v);

  std::vector<SpeciesId> active_;
  std::vector<std::uint32_t> rank_of_;  // by species
  std::vector<WatchablePair> watchable_;
  std::uint64_t version_ = 0;
};

}  // namespace conclave::population::detail
