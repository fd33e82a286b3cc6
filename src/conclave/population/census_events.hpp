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

  // The agents of a species and, for each other one, the weight of a meeting (this one initiating;
  // 0: it would change nothing), and with how many agents they could react, weighted.
  struct Kind {
    SpeciesId id;
    AgentCount count;
    AgentCount partners;
    std::vector<std::uint32_t> weights;
  };
  static constexpr std::uint32_t no_place = ~std::uint32_t{0};

  // Where a species stands among the kinds; one that does not becomes a new kind.
  std::size_t place_of(SpeciesId id);
  std::size_t add_kind(SpeciesId id);
  // Keep the tables small when states come and go. Places change, so the first happens only where
  // none is held: before a new kind is made. So do numbers of species in the second.
  void drop_empty_kinds();
  void forget_other_species();
  void list_places();
  // `count` more agents of a kind (fewer, modulo 2^64, if it is the negative of a number).
  void change(std::size_t place, AgentCount count);
  // Ordered pairs of distinct agents of this initiating kind that would react, weighted.
  Interactions pairs_of(std::size_t place) const;

  bool is_silent() const { return weight_ == 0u; }
  // An event looks at every kind several times.
  std::uint64_t work_per_event() const { return 1 + kinds_.size() / 16; }
  // Drawn when they meet.
  static std::optional<std::pair<AgentCount, AgentCount>> next_agents() { return std::nullopt; }
  void draw_next_event();
  // One of the pairs that react, by weight, meets.
  void react();
  void meet(std::size_t initiator, std::size_t responder);

  std::vector<Kind> kinds_;
  std::vector<std::uint32_t> places_;  // of species among the kinds
  std::size_t occupied_ = 0;
  Interactions weight_;
  Interactions all_pairs_;  // weighted
};

// The same with the protocol's own states.
template <PopulationProtocol P>
class CensusEvents : public CensusEventsEngine {
 public:
  using State = typename P::State;
  using Species = detail::SpeciesOf<P>;

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
