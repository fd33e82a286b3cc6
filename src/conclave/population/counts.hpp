// The `counts` engine on the complete graph: keeps only how many agents are in which state and
// simulates batches of interactions at once, or, where almost nothing happens, jumps from one
// interaction that changes something to the next. Exact in law; null interactions are counted.
//
// A batch (after Berenbrink, Hammer, Kaaser, Meyer, Penschuck and Tran, ESA 2020) is a run of
// interactions of which nearly all are between agents that meet for the first time in the batch.
// Such fresh pairs are only counted while it lasts; who they were is drawn for all of them together
// at its end (detail/pairing.hpp). The few interactions with an agent met before, collisions, are
// carried out one by one at their time; then the states of the agents involved are revealed.
//
// The watched event happens at an exact interaction, so batches end before it can happen; or agents
// whose meetings could bring it about are revealed from the beginning, so that all these meetings
// are collisions; or interactions are carried out one by one. counts-engine.md explains why
// all this is exact, and what it costs. The file is long because batches and jumps share one
// census, and go over into each other.
//
// A look at the trial inside a batch does not end the batch. The batch is carried out as it would
// have been, with a record of what happened; what the engine then shows, up to the end of the
// batch, is the census after the part of it that has passed (detail/batch_record.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "conclave/base/interactions.hpp"
#include "conclave/base/random.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/starting_census.hpp"
#include "conclave/population/agent_table.hpp"
#include "conclave/population/detail/batch_record.hpp"
#include "conclave/population/detail/census_keeper.hpp"
#include "conclave/population/detail/pairing.hpp"
#include "conclave/population/detail/reacting_pairs.hpp"
#include "conclave/population/detail/species_of.hpp"

namespace conclave::population {

// Costs in nanoseconds on a common machine. These constants decide how something is
// simulated, never what: any others give the same law.
struct CountsCosts {
  static constexpr double batch = 150;
  static constexpr double sample = 60;   // a hypergeometric variate for a batch
  static constexpr double learning = 4;  // per pair of ranks, when a new state appears
  static constexpr double revealed = 2;  // an agent, at the start of a batch
  static constexpr double jump = 40;
  static constexpr double jump_per_rank = 3;

  // Where the table of all meetings lies in a near cache, and where not.
  static constexpr double collision(std::size_t table_bytes) {
    if (table_bytes <= std::size_t{1} << 19) return 60;
    return table_bytes < std::size_t{1} << 23 ? 120 : 250;
  }
};

// Such costs as values.
struct CostTable {
  double batch;
  double sample;
  double learning;
  double revealed;
  double jump;
  double jump_per_rank;
  double (*collision)(std::size_t table_bytes);
};
template <class Costs>
inline constexpr CostTable cost_table{Costs::batch,    Costs::sample, Costs::learning,
                                      Costs::revealed, Costs::jump,   Costs::jump_per_rank,
                                      Costs::collision};

// For 2 to 2^62 agents. Memory: tables of pairs of states, for up to 4096 states, and four bytes
// per agent revealed in a batch. Knows the protocol by its species only.
class CountsEngine : public detail::CensusKeeper {
 public:
  // The n agents are those that the species were built with. The costs decide how batches are
  // planned, and so which of many equally likely trials a seed gives.
  CountsEngine(std::unique_ptr<detail::Species> species, AgentCount n, const StreamName& name,
               const CostTable& costs);

  // Simulates up to `budget` interactions, fewer only if the watched event happens, or after about
  // this much work, counted in random variates, or many new states. Batches end at the horizon,
  // this many interactions from now and no fewer than the budget. Where the budget ends before it,
  // what is shown there is exact in law and follows from the seed and the time alone, and the trial
  // goes on as if it had not been looked at.
  Interactions advance(Interactions budget, std::uint64_t most_work, Interactions horizon);
  // The same where nothing is looked at before the budget ends.
  Interactions advance(Interactions budget, std::uint64_t most_work = UINT64_MAX) {
    return advance(budget, most_work, budget);
  }

  // All of these show the trial at the moment at which it is looked at, also inside a batch.
  Interactions now() const { return inside_ ? inside_->time : now_; }
  AgentCount leaders() const { return seen_tally().leaders(); }
  bool converged() const { return seen_tally().converged(); }
  std::vector<Observation> observations() const;
  // Also where no two agents are left whose interaction would change something.
  bool hopeless() const;
  bool has_stopped() const;
  // In words and numbers, in the order of the states.
  std::vector<NamedCount> named_census() const { return species_->named(shown()); }
  AgentTable table() const { return species_->table(shown()); }

  // The census that is shown, by species.
  const detail::Species& species() const { return *species_; }
  const std::vector<AgentCount>& shown() const { return inside_ ? inside_->census : census_; }

  // Whether nothing is drawn that is still to be shown: neither the rest of a batch nor the next
  // interaction that changes something.
  bool stands_still() const { return !inside_ && !next_event_; }
  std::uint64_t work() const { return work_; }

  // The cost of an interaction at present, in nanoseconds on a common machine: an estimate from the
  // number of random variates it takes, the same on every machine.
  double cost() const;

  // Ends the current batch, which was planned for the event watched for until now.
  void watch(Watch what);

  // A fault; returns how many agents it hit, all sets of that many candidates equally likely.
  AgentCount strike(const Fault& fault);

 private:
  using SpeciesId = detail::SpeciesId;
  using Kind = detail::Outcome::Kind;
  using Moment = detail::Moment;

  // --- costs ---

  // Pairs of ranks have square tables, up to this many ranks.
  static constexpr std::size_t most_ranks_in_tables = 4096;
  // A new rank takes as long as hundreds of variates, since its meetings with all others are looked
  // up. After this many of them, `advance` returns.
  static constexpr std::uint64_t new_ranks_at_once = 256;
  // Agents revealed in a batch take four bytes each.
  static constexpr AgentCount most_revealed = AgentCount{1} << 26;

  double agents() const { return static_cast<double>(n_); }
  double ranks() const { return static_cast<double>(active().size()); }
  double cost_of_batch() const { return costs_.batch + cost_of_drawing_; }
  double cost_of_collision() const { return costs_.collision(species_->table_bytes()); }

  // A batch of t interactions has about 2 t^2 / n collisions; per interaction it is cheapest here.
  double best_length() const;
  // Cost per interaction of a batch of this length at whose start this many agents are revealed.
  double cost_of_batch(double length, double revealed) const;
  // Cost per interaction of jumping, given the fraction of interactions that change something.
  double cost_of_jumping(double reacting) const;

  // --- the event that a batch must not miss ---

  enum class Care : std::uint8_t {
    calm,      // a batch too short to bring about the watched event
    watchful,  // one in which meetings that could bring it about are collisions
    single,    // one interaction
  };
  struct Plan {
    Care care = Care::calm;
    double length = 1;
    double cost = 0;  // per interaction
  };

  // The cheapest way. Afterwards watched_ranks_ are those whose agents it reveals.
  Plan best_plan();

  static constexpr double infinite = std::numeric_limits<double>::infinity();

  Plan single() const;
  static Plan cheaper(const Plan& plan, const Plan& other);

  // Agents must be revealed until no two in the pool can meet in a way that must be noticed at its
  // time. Finds their ranks; returns how many agents that are, infinitely many if too many.
  double find_watched(Care care);

  // --- batches ---

  // Seen from `end` on, cut short at `last`.
  void run_batch(Interactions end, Interactions last);

  void finish_batch();

  // --- the census inside a batch ---

  // The view of an earlier moment, while the batch itself has been carried out further.
  struct Inside {
    Interactions time;
    std::vector<AgentCount> census;
  };

  const detail::SpeciesTally& seen_tally() const {
    return species_->tally(inside_ ? Moment::seen : Moment::now);
  }

  void begin_record();

  // Shows the trial at `end`, or at the end of the batch.
  void look_further(Interactions end);

  void show(std::uint64_t passed);

  // Forgets what a batch has drawn beyond the time at which it was looked at. What is seen there is
  // exact in law, and what follows is drawn from words that had no part in it.
  void end_where_seen();

  // Notifies a tally of a census how the next one differs from it.
  static void notify_of_difference(detail::SpeciesTally& tally,
                                   const std::vector<AgentCount>& before,
                                   const std::vector<AgentCount>& after);

  // --- batches, continued ---

  void begin_batch();

  void count_ranks();

  void reveal_watched();

  // Each interaction is a collision with probability m (2n - m - 1) / (n (n - 1)) for the m agents
  // touched so far. Candidates come at the rate for the largest m, and are taken with the ratio;
  // pieces of the batch have rates of their own, so that few come in vain.
  void run_interactions(std::uint64_t length);

  // A new rate costs about as much as two candidates.
  std::uint64_t pieces_of(std::uint64_t length) const;

  // False if the batch must end here.
  bool run_piece(std::uint64_t length);

  double uniform() { return static_cast<double>(schedule_.word() >> 11) * 0x1p-53; }
  AgentCount touched() const { return revealed_.size() + 2 * fresh_pairs_; }
  Interactions all_pairs() const { return Interactions(n_) * Interactions(n_ - 1); }
  Interactions colliding_pairs(AgentCount touched) const;
  double about_colliding(AgentCount touched) const;

  // An interaction with at least one agent touched before, all of them equally likely. False if
  // the batch must end here.
  bool collide();

  // The place in revealed_ of the touched agent with this number. Numbers beyond the revealed
  // agents are those of the fresh pairs, two for each; one of these pairs is then revealed.
  std::size_t reveal(AgentCount number);

  std::size_t reveal_untouched();

  // When in the batch two agents have met: in the present interaction, some time before it, or
  // some time in the batch.
  enum class When : std::uint8_t { now, before, some_time };

  // Lets two revealed agents interact; false if the batch must end with this interaction.
  template <When when>
  bool interact(std::size_t initiator, std::size_t responder);

  template <When when>
  void record_step(SpeciesId u, SpeciesId v, SpeciesId new_u, SpeciesId new_v);

  // Notifies the tally of an interaction. For a milestone its counts must be those of this moment,
  // so the fresh pairs are drawn first, and the batch is over.
  bool note(const detail::Outcome& outcome, SpeciesId u, SpeciesId v, SpeciesId new_u,
            SpeciesId new_v);

  // Who the fresh pairs were, and what became of them: all together, or one by one where that is
  // less work.
  void draw_fresh_pairs();

  // The places of a whole block in the table of outcomes, which may be far away, are fetched before
  // the first is needed.
  void draw_one_by_one();

  void learn();

  void draw_together();

  void shift(SpeciesId from, SpeciesId to, AgentCount count);

  // Applies meetings whose outcome is random, by a multinomial split of their number.
  void apply_random(const detail::Pairing::RandomMeetings& meetings);

  detail::PairGroups* recorded_pairs() { return record_ ? &record_->steps.fresh() : nullptr; }

  void apply_one_by_one(const detail::Pairing::RandomMeetings& meetings,
                        const detail::Outcome& outcome);

  void end_batch();

  // Notifies the tally of the whole batch at once: by how much the number of agents of each species
  // has changed.
  void notify_tally_of_batch();

  // --- jumps ---

  // The time this many interactions after what is shown, or the largest count.
  Interactions later(Interactions interactions) const;

  bool is_silent() const { return is_jumping_ && reacting_.number() == 0u; }

  // To count the reacting pairs must not cost more than jumps would have saved since the last time.
  void consider_jumping();

  void begin_jumping();

  void count_reacting();
  std::uint32_t weight(std::size_t u, std::size_t v);
  Interactions weighted_pairs() const;
  double reacting_part() const;
  bool reacts(std::size_t u, std::size_t v);
  bool is_without_reactions();

  void jump(Interactions end);

  bool too_much_reacts();

  void react();

  std::pair<SpeciesId, SpeciesId> decide_after_jump(const detail::Outcome& outcome, SpeciesId u,
                                                    SpeciesId v);

  // False if all that reacts had to be counted anew, or jumping is over.
  bool rank_new_species();

  // The record of a batch, with the census at its beginning.
  struct Record {
    std::vector<AgentCount> census;
    detail::BatchRecord steps{};
  };

  CostTable costs_;
  std::uint32_t jump_scale_;
  StreamName name_;
  Stream schedule_;
  Interactions now_;        // all that is drawn has happened by then
  std::uint64_t work_ = 0;  // random variates, about
  Plan plan_;               // of the batch, or the last one
  std::vector<std::uint32_t> watched_ranks_;
  std::vector<bool> is_watched_;  // by rank
  std::uint64_t pairs_looked_at_ = 0;

  // The batch.
  std::vector<AgentCount> counts_;  // at its start, by rank
  detail::Pool pool_;               // agents not revealed, by rank, as they were at its start
  AgentCount fresh_pairs_ = 0;      // pairs in the pool that have met and are not drawn yet
  std::vector<SpeciesId> revealed_;
  std::uint64_t watched_ = 0;    // agents revealed at its start
  bool notifies_later_ = false;  // the tally learns of the batch at its end
  std::uint64_t length_ = 0;
  std::uint64_t number_ = 0;  // of the present interaction in the batch
  std::uint64_t collisions_ = 0;
  std::uint64_t changes_ = 0;   // of agents: shows how much happens
  double cost_of_drawing_ = 0;  // what the fresh pairs cost last time
  double cost_of_ranking_ = 0;  // and the new states

  detail::Pairing pairing_;
  std::uint64_t learned_version_ = 0;      // of the ranks that pairing_ knows
  std::vector<SpeciesId> in_order_;        // active species in the order of their states
  std::vector<AgentCount> pool_in_order_;  // the pool, likewise

  std::optional<Record> record_;  // of a batch that is looked at before its end
  std::optional<Inside> inside_;

  bool is_jumping_ = false;
  std::optional<Interactions> next_event_;  // drawn already
  detail::ReactingPairs reacting_;
  double saved_ = 0;             // nanoseconds, had it jumped since it did the last time
  std::uint64_t last_look_ = 0;  // whether jumping still pays, at this much work
  std::uint64_t next_look_ = 0;
  std::uint64_t ranks_added_ = 0;  // since the last look
};

// The same with the protocol's own states. Costs may be replaced in tests, to force one way of
// simulating.
template <PopulationProtocol P, class Costs = CountsCosts>
class Counts : public CountsEngine {
 public:
  using State = typename P::State;
  using Species = detail::SpeciesOf<P>;

  // O(n), or O(states) where the start is known by counts.
  Counts(const P& protocol, AgentCount n, const StartingPoint<State>& start, const StreamName& name)
      : CountsEngine(std::make_unique<Species>(protocol, n, start, name), n, name,
                     cost_table<Costs>) {}
  Counts(const P& protocol, AgentCount n, const Census<State>& census, const StreamName& name)
      : CountsEngine(std::make_unique<Species>(protocol, census), n, name, cost_table<Costs>) {}

  const P& protocol() const { return own().protocol(); }
  // The states that some agent is in, with how many.
  Census<State> census() const { return own().census(shown()); }

 private:
  const Species& own() const { return static_cast<const Species&>(*species_); }
};

}  // namespace conclave::population
