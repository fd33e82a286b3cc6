// The `events` engine on the complete graph: keeps the census (how many agents are in which state)
// and jumps from one interaction that changes something to the next with geometric waiting times.
// Exact in law; null interactions are counted. O(k) per effective interaction for k states seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "conclave/base/interactions.hpp"
#include "conclave/base/random.hpp"
#include "conclave/model/fault.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/starting_census.hpp"
#include "conclave/population/agent_table.hpp"
#include "conclave/population/detail/jumping.hpp"
#include "conclave/population/detail/reacting_pairs.hpp"
#include "conclave/population/detail/species.hpp"
#include "conclave/population/detail/species_host.hpp"
#include "conclave/population/detail/species_of.hpp"

namespace conclave::population {

// For 2 to 2^62 agents; memory O(k^2) bytes for k states seen. Knows the protocol by its species
// only.
class CensusEventsEngine : public detail::Jumping<CensusEventsEngine, detail::SpeciesHost> {
 public:
  // The n agents are those that the species were built with.
  CensusEventsEngine(std::unique_ptr<detail::Species> species, AgentCount n,
                     const StreamName& name);

  // A fault; returns how many agents it hit, all sets of that many candidates equally likely.
  AgentCount strike(const Fault& fault);

  std::vector<Observation> observations() const { return tally().observations(counts()); }
  // In words and numbers, in the order of the states.
  std::vector<NamedCount> named_census() const { return species_->named(counts()); }
  AgentTable table() const { return species_->table(counts()); }

 protected:
  // The agents, by species.
  std::vector<AgentCount> counts() const;

 private:
  friend detail::Jumping<CensusEventsEngine, detail::SpeciesHost>;
  using SpeciesId = detail::SpeciesId;
  static constexpr std::uint32_t no_rank = ~std::uint32_t{0};

  // Ranks are a dense numbering of the species that are or were lately occupied, in the order in
  // which they were met. A species without a rank gets the next.
  std::size_t rank_of(SpeciesId id);
  void add_rank(SpeciesId id);
  // Both keep tables small when states come and go. The first changes ranks, and so happens only
  // where none is held: before a new one is given. The second changes the numbers of species.
  void forget_empty_ranks();
  void forget_other_species();
  void list_ranks();
  // `difference` more agents of a rank (fewer, modulo 2^64, if it is the negative of a number).
  void change(std::size_t rank, AgentCount difference);

  bool is_silent() const { return pairs_.number() == 0u; }
  // An event looks at every rank several times.
  std::uint64_t work_per_event() const { return 1 + active_.size() / 16; }
  // Drawn when they meet.
  static std::optional<std::pair<AgentCount, AgentCount>> next_agents() { return std::nullopt; }
  void draw_next_event();
  // One of the pairs that react, by weight, meets.
  void react();
  struct Met {
    SpeciesId u;
    SpeciesId v;
    bool is_counted;  // the tally must be notified
  };
  Met meet(SpeciesId u, SpeciesId v);
  bool has_rank(SpeciesId id) const { return id < rank_of_.size() && rank_of_[id] != no_rank; }
  void move_one(std::size_t from, std::size_t to);

  Interactions all_pairs_;              // with their weights
  detail::ReactingPairs pairs_;         // of agents, by rank
  std::vector<SpeciesId> active_;       // by rank
  std::vector<std::uint32_t> rank_of_;  // by species
  std::size_t occupied_ = 0;            // ranks that have agents
  detail::PairWeights weights_;         // of the newest rank
};

// The same with the protocol's own states.
template <PopulationProtocol P>
class CensusEvents : public CensusEventsEngine {
 public:
  using State = typename P::State;
  using Species = detail::SpeciesOf<P>;

  // Starts in that configuration; the streams are those of this name.
  CensusEvents(const P& protocol, AgentCount n, const StartingPoint<State>& start,
               const StreamName& name)
      : CensusEventsEngine(std::make_unique<Species>(protocol, n, start, name), n, name) {}

  const P& protocol() const { return species().protocol(); }
  // The states that some agent is in, with how many.
  Census<State> census() const { return species().census(counts()); }

 private:
  const Species& species() const { return static_cast<const Species&>(*species_); }
};

}  // namespace conclave::population
