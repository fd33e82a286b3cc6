// The common part of engines that know their agents only by how many are in which state: the
// census, the states met so far and their meetings, and those meetings that the tally must be told
// of.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "conclave/base/check.hpp"
#include "conclave/base/hypergeometric.hpp"
#include "conclave/base/random.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/starting_census.hpp"
#include "conclave/population/detail/batch_tally.hpp"
#include "conclave/population/detail/species.hpp"
#include "conclave/population/detail/tally_host.hpp"

namespace conclave::population::detail {

template <PopulationProtocol P>
class CensusKeeper : public TallyHost<P> {
 public:
  using typename TallyHost<P>::State;
  using typename TallyHost<P>::Tally;
  static constexpr AgentCount most_agents = AgentCount{1} << 62;
  static_assert(TallyOf<Tally, P>);

  AgentCount size() const { return n_; }

 protected:
  // The states that some agent is in, with how many, given their number by species.
  Census<State> census_from(const std::vector<AgentCount>& counts) const {
    Census<State> result;
    for (SpeciesId id = 0; id < counts.size(); ++id) {
      if (counts[id] != 0) result.emplace_back(species_.state(id), counts[id]);
    }
    return result;
  }

  // An ordered pair of ranks whose meeting the tally may have to be told of at its time.
  struct WatchablePair {
    std::uint32_t u;
    std::uint32_t v;
    bool is_counted;
    std::uint8_t milestone;
  };

  CensusKeeper(const P& protocol, AgentCount n, StartingPoint<State> start, const StreamName& name)
      : TallyHost<P>(protocol, n, name), n_(n), species_(protocol_, tally_) {
    CONCLAVE_CHECK(n >= 2 && n <= most_agents);
    fill(start, name.with(Purpose::start));
  }

  CensusKeeper(const P& protocol, AgentCount n, const Census<State>& census, const StreamName& name)
      : TallyHost<P>(protocol, n, name), n_(n), species_(protocol_, tally_) {
    for (const auto& [state, count] : census) add_agents(state, count);
  }

  CensusKeeper(const CensusKeeper& other)
      : TallyHost<P>(other),
        n_(other.n_),
        species_(other.species_, tally_),
        census_(other.census_),
        active_(other.active_),
        rank_of_(other.rank_of_),
        watchable_(other.watchable_),
        version_(other.version_) {}
  ~CensusKeeper() = default;

  // A fault; returns how many agents it hit, all sets of that many candidates equally likely.
  AgentCount strike_census(const Fault& fault) requires Corruptible<P> {
    AgentCount candidates = this->candidates(fault, n_);
    AgentCount to_hit = fault.agents_hit(n_, candidates);
    const AgentCount hit = to_hit;
    const std::vector<AgentCount> before = census_;
    for (SpeciesId id = 0; id < before.size(); ++id) {
      if (!this->can_hit(fault, species_.state(id))) continue;
      const AgentCount count = hypergeometric(candidates, before[id], to_hit, this->fault_choice_);
      candidates -= before[id];
      to_hit -= count;
      strike_species(fault, id, count);
    }
    recount();
    return hit;
  }

  // Ranks are a dense numbering of the species that are or were lately occupied. After this, every
  // occupied species has one.
  static constexpr std::uint32_t no_rank = ~std::uint32_t{0};

  void update_ranks() {
    if (active_.size() > 2 * occupied() + 16) forget_empty_species();
    census_.resize(species_.size());
    rank_of_.resize(species_.size(), no_rank);
    for (SpeciesId id = 0; id < census_.size(); ++id) {
      if (census_[id] != 0 && rank_of_[id] == no_rank) add_rank(id);
    }
    census_.resize(species_.size());  // those that meetings of the new ones will make
  }

  const std::vector<SpeciesId>& active() const { return active_; }  // by rank
  std::uint32_t rank_of(SpeciesId id) const {
    return id < rank_of_.size() ? rank_of_[id] : no_rank;
  }
  const std::vector<WatchablePair>& watchable() const { return watchable_; }
  // Changes whenever some rank gets another meaning.
  std::uint64_t version() const { return version_; }

  AgentCount& count_of(SpeciesId id) {
    if (id >= census_.size()) census_.resize(species_.size());
    return census_[id];
  }

  // The species of two agents after they have met.
  std::pair<SpeciesId, SpeciesId> decide(const Outcome& outcome, SpeciesId u, SpeciesId v) {
    if (outcome.kind == Outcome::Kind::certain) [[likely]]
      return {outcome.u, outcome.v};
    return decide_by_chance(u, v);
  }

  std::pair<SpeciesId, SpeciesId> decide_by_chance(SpeciesId u, SpeciesId v) {
    State new_u = species_.state(u);
    State new_v = species_.state(v);
    protocol_.interact(new_u, new_v, choice_);
    const SpeciesId id = species_.id_of(new_u);
    return {id, species_.id_of(new_v)};
  }

  using TallyHost<P>::choice_;
  using TallyHost<P>::protocol_;
  using TallyHost<P>::tally_;

  AgentCount n_;
  SpeciesTable<P, Tally> species_;
  std::vector<AgentCount> census_;  // by species

 private:
  void fill(const StartingPoint<State>& start, const StreamName& name) {
    Stream choice(name);
    for_each_starting_state(protocol_, start, n_, choice,
                            [this](const State& s, AgentCount count) { add_agents(s, count); });
  }

  void add_agents(const State& state, AgentCount count) {
    if (count == 0) return;
    count_of(species_.id_of(state)) += count;
    this->add_to(tally_, state, count);
  }

  void strike_species(const Fault& fault, SpeciesId id, AgentCount count) {
    census_[id] -= count;
    if (fault.kind != FaultKind::corrupt && count != 0) {  // the same for all
      count_of(species_.id_of(this->struck(fault, species_.state(id)))) += count;
      return;
    }
    for (AgentCount i = 0; i < count; ++i) {
      ++count_of(species_.id_of(this->struck(fault, species_.state(id))));
    }
  }

  void recount() {
    Tally fresh = TallyHost<P>::empty_tally(protocol_, n_);
    for (SpeciesId id = 0; id < census_.size(); ++id) {
      if (census_[id] != 0) this->add_to(fresh, species_.state(id), census_[id]);
    }
    this->replace_tally(std::move(fresh));
  }

  std::size_t occupied() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(active_, [this](SpeciesId id) { return census_[id] != 0; }));
  }

  void add_rank(SpeciesId id) {
    const auto rank = static_cast<std::uint32_t>(active_.size());
    active_.push_back(id);
    rank_of_[id] = rank;
    ++version_;
    for (std::uint32_t other = 0; other < rank; ++other) {
      list_if_watchable(rank, other);
      list_if_watchable(other, rank);
    }
    list_if_watchable(rank, rank);
    rank_of_.resize(species_.size(), no_rank);
  }

  void forget_empty_species() {
    watchable_.clear();
    active_.clear();  // the occupied ones come back in the order of their numbers
    ++version_;
    const auto occupied = static_cast<std::size_t>(
        std::ranges::count_if(census_, [](AgentCount count) { return count != 0; }));
    if (species_.size() > 4 * occupied + 256) renumber_species();
    rank_of_.assign(species_.size(), no_rank);
  }

  void renumber_species() {
    std::vector<SpeciesId> kept;
    std::vector<AgentCount> census;
    for (SpeciesId id = 0; id < census_.size(); ++id) {
      if (census_[id] == 0) continue;
      kept.push_back(id);
      census.push_back(census_[id]);
    }
    species_.keep(kept);
    census_ = std::move(census);
  }

  void list_if_watchable(std::uint32_t u, std::uint32_t v) {
    const Outcome outcome = species_.outcome(active_[u], active_[v]);
    if (!outcome.is_counted && outcome.milestone <= milestone(tally_)) return;
    watchable_.push_back({u, v, outcome.is_counted, outcome.milestone});
  }

  std::vector<SpeciesId> active_;
  std::vector<std::uint32_t> rank_of_;  // by species
  std::vector<WatchablePair> watchable_;
  std::uint64_t version_ = 0;
};

}  // namespace conclave::population::detail
