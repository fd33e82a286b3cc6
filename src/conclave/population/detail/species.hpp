// The states met so far, each with a number, and what comes of a meeting of any two: evaluated once
// by the protocol's own transition function and remembered. Engines that know agents only by how
// many are in which state know the protocol and its tally by the virtual functions here, which they
// call for a new pair of states, a random outcome or an interaction that counts; so they are
// compiled once, not once per protocol. species_of.hpp has what depends on the protocol's type.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "conclave/base/random.hpp"
#include "conclave/model/fault.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/trial.hpp"
#include "conclave/population/agent_table.hpp"

namespace conclave::population::detail {

using SpeciesId = std::uint32_t;

// The outcome of a meeting. If chance decides, u and v name an OutcomeDistribution, or there are
// too many outcomes to list.
struct Outcome {
  enum class Kind : std::uint8_t { unknown, certain, random, too_many };
  SpeciesId u = 0;
  SpeciesId v = 0;
  Kind kind = Kind::unknown;
  bool changes = false;        // some agent's state may change
  bool is_counted = false;     // the tally's counts may change
  std::uint8_t milestone = 0;  // the tally's milestone it may reach
};

// All outcomes of a random meeting with their weights, which add up to `total`.
struct OutcomeDistribution {
  struct Branch {
    SpeciesId u;
    SpeciesId v;
    std::uint64_t weight;
  };
  std::vector<Branch> branches;
  std::uint64_t total = 0;
};

// The weight of a branch: a fraction that is reduced only where it would not fit otherwise; 0/0 if
// it still does not.
struct BranchWeight {
  std::uint64_t numerator = 1;
  std::uint64_t denominator = 1;

  // The weight of a branch that is taken with probability p/q after this one. Exact.
  BranchWeight times(std::uint64_t p, std::uint64_t q) const;
};

// The answers of a tally that engines look at after every change.
struct TallyStanding {
  bool is_over = false;        // the watched event has happened
  std::uint8_t milestone = 0;  // the last one reached, 0 where there are none
};

// A tally that is notified of agents by their species.
class SpeciesTally {
 public:
  virtual ~SpeciesTally() = default;
  // Agents that are there from the beginning, or come in by a change of the census. O(1) where the
  // tally can take many at once, otherwise O(count).
  virtual void add(SpeciesId id, AgentCount count) = 0;
  // Only where the tally depends on the census alone (Species::has_census_tally).
  virtual void remove(SpeciesId id, AgentCount count) = 0;
  // Two agents have met; returns the standing, which may differ now.
  virtual TallyStanding replace(SpeciesId u, SpeciesId v, SpeciesId new_u, SpeciesId new_v,
                                Watch watch) = 0;
  // From now on, watches for violations (MeasuresHolding); no effect on other tallies.
  virtual void hold() = 0;

  // The answers of the tally; see TallyOf and MeasuresHolding (model/population.hpp). O(1).
  virtual AgentCount leaders() const = 0;
  virtual bool converged() const = 0;
  virtual bool hopeless() const = 0;
  virtual bool violated() const = 0;
  virtual TallyStanding standing(Watch watch) const = 0;
  // At least this many agents must change before the watched event can happen; 0 if unknown.
  virtual AgentCount changes_to_stop(Watch watch) const = 0;
  // `counts` are the agents, by species.
  virtual std::vector<Observation> observations(const std::vector<AgentCount>& counts) const = 0;
};

// The weights of pairs of one species with others: it initiates, or responds. 0 is that of a pair
// that is certain to change nothing.
struct PairWeights {
  std::vector<std::uint32_t> initiating;  // by place among the others
  std::vector<std::uint32_t> responding;
};

// The moments of a trial of which the species keep a tally.
enum class Moment : std::uint8_t {
  now,        // all that the engine has simulated
  beginning,  // of a batch that is looked at before its end (counts.hpp)
  seen,       // the moment inside that batch which an observer is shown
};
inline constexpr std::size_t moments = 3;

// The species of one trial, with its tallies; one object belongs to one engine.
class Species {
 public:
  virtual ~Species();
  Species& operator=(const Species&) = delete;
  // A copy with the same knowledge, and with a tally of its own in the same state.
  virtual std::unique_ptr<Species> copy() const = 0;

  std::size_t size() const { return size_; }
  // The agents that it was built with, by species. Called once.
  std::vector<AgentCount> take_first_counts() { return std::move(first_counts_); }
  // The outcome must be of kind random. Valid until the next outcome is asked for.
  const OutcomeDistribution& distribution(const Outcome& outcome) const {
    return distributions_[outcome.u + outcome.v * 65536];
  }

  // The outcome of an interaction in which u initiates. O(1) where it is remembered; otherwise asks
  // the protocol for all outcomes, and may add species.
  [[gnu::always_inline]] Outcome outcome(SpeciesId u, SpeciesId v) {
    if (std::max(u, v) >= side_) [[unlikely]]
      return learn(u, v);
    const Remembered& known = remembered_[u * side_ + v];
    if (known.kind == Outcome::Kind::unknown) [[unlikely]]
      return learn(u, v);
    return {known.u, known.v, known.kind, known.changes, known.is_counted, known.milestone};
  }

  // Prefetches: `outcome` of these will be called soon.
  [[gnu::always_inline]] void fetch(SpeciesId u, SpeciesId v) const {
    if (std::max(u, v) < side_) __builtin_prefetch(&remembered_[u * side_ + v]);
  }

  // Bytes of the table of outcomes, with room for all species met so far.
  std::size_t table_bytes() const { return room() * room() * sizeof(Remembered); }

  // Forgets all species but these, which are renumbered in this order.
  void keep(const std::vector<SpeciesId>& kept);

  // The species of two agents after they have met, and after a meeting to which the engine has
  // jumped (reaction.hpp).
  using Pair = std::pair<SpeciesId, SpeciesId>;
  virtual Pair interact(SpeciesId u, SpeciesId v, Stream& choice) = 0;
  virtual Pair interact_after_jump(SpeciesId u, SpeciesId v, Stream& choice) = 0;
  // The weight of a pair that certainly reacts, 1 unless pairs are weighed.
  virtual std::uint32_t jump_scale() const = 0;
  // The weight of a pair that reacts.
  virtual std::uint32_t jump_weight(SpeciesId u, SpeciesId v) const = 0;
  // The weights of all pairs of a species with others, of which it may be one.
  virtual void weigh_pairs(SpeciesId id, const std::vector<SpeciesId>& others,
                           PairWeights& weights) const = 0;
  // The order of the states, by their fields; it does not depend on the trial.
  virtual bool comes_before(SpeciesId a, SpeciesId b) const = 0;

  // Whether the fault may hit agents of this species.
  virtual bool can_hit(const Fault& fault, SpeciesId id) const = 0;
  // The species of an agent after a fault has hit it.
  virtual SpeciesId struck(const Fault& fault, SpeciesId id, Stream& choice) = 0;

  // The tally of a moment, which must have one (copy_tally).
  SpeciesTally& tally(Moment moment = Moment::now) {
    return *tallies_[static_cast<std::size_t>(moment)];
  }
  const SpeciesTally& tally(Moment moment = Moment::now) const {
    return *tallies_[static_cast<std::size_t>(moment)];
  }
  // Makes the tally of one moment a copy of that of another. A moment other than now has a tally
  // from its first copy on.
  virtual void copy_tally(Moment from, Moment to) = 0;
  // Makes the tally anew after a fault; it keeps what it had observed.
  virtual void recount(const std::vector<AgentCount>& counts) = 0;
  bool has_census_tally() const { return has_census_tally_; }
  bool has_milestones() const { return has_milestones_; }
  virtual bool measures_holding() const = 0;

  // Agents, by species, in words and numbers; in the order of the states.
  virtual std::vector<NamedCount> named(const std::vector<AgentCount>& counts) const = 0;
  // The same as a table whose rows are states.
  virtual AgentTable table(const std::vector<AgentCount>& counts) const = 0;

 protected:
  Species(bool has_census_tally, bool has_milestones)
      : has_census_tally_(has_census_tally), has_milestones_(has_milestones) {}
  Species(const Species&) = default;  // but for the tallies, which must be set

  struct Drawn {
    SpeciesId u;
    SpeciesId v;
    BranchWeight weight;
  };
  static constexpr std::size_t most_branches = 64;

  // The tallies lie in the object itself.
  void set_tally(Moment moment, SpeciesTally& tally) {
    tallies_[static_cast<std::size_t>(moment)] = &tally;
  }
  // Asks the protocol.
  virtual Outcome evaluate(SpeciesId u, SpeciesId v) = 0;
  virtual void keep_states(const std::vector<SpeciesId>& kept) = 0;
  // The number of states known so far.
  void set_size(std::size_t size) {
    size_ = size;
    if (size_ > capacity_) capacity_ *= 2;
  }
  void add_first(SpeciesId id, AgentCount count);
  // Whether `outcome` of these will be remembered.
  bool is_remembered(SpeciesId u, SpeciesId v) const { return std::max(u, v) < room(); }
  // Turns weighted outcomes into a distribution with whole-number weights, if these are small
  // enough.
  void list_branches(Outcome& result, const std::vector<Drawn>& drawn);

 private:
  // One of these for every pair of species: eight bytes.
  struct Remembered {
    std::uint16_t u = 0;
    std::uint16_t v = 0;
    Outcome::Kind kind = Outcome::Kind::unknown;
    bool changes = false;
    bool is_counted = false;
    std::uint8_t milestone = 0;
  };
  static_assert(sizeof(Remembered) == 8);

  // Apart, so that looking up what is known is short enough to inline.
  Outcome learn(SpeciesId u, SpeciesId v);
  // The table of meetings stops growing before it fills the memory.
  std::size_t room() const { return std::min<std::size_t>(capacity_, 4096); }
  // Makes room; what is known is kept.
  void grow();

  static constexpr std::size_t least_capacity = 64;
  static constexpr std::uint64_t most_weight = std::uint64_t{1} << 62;

  std::array<SpeciesTally*, moments> tallies_{};
  bool has_census_tally_;
  bool has_milestones_;
  std::size_t size_ = 0;
  std::vector<AgentCount> first_counts_;
  std::vector<OutcomeDistribution> distributions_;
  std::vector<Remembered> remembered_;  // of u and v at u * side_ + v
  std::size_t side_ = 0;
  std::size_t capacity_ = least_capacity;  // a power of two, at least the size
};

}  // namespace conclave::population::detail
