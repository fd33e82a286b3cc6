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
// What the protocol's tally watches for happens at an exact interaction: while it is near, agents
// whose meetings could bring it about are revealed from the beginning, so that all these meetings
// are collisions. docs/counts-engine.md tells why all this is exact, and what it costs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "conclave/base/binomial.hpp"
#include "conclave/base/check.hpp"
#include "conclave/base/geometric.hpp"
#include "conclave/base/hypergeometric.hpp"
#include "conclave/base/interactions.hpp"
#include "conclave/base/random.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/starting_census.hpp"
#include "conclave/population/detail/batch_tally.hpp"
#include "conclave/population/detail/pairing.hpp"
#include "conclave/population/detail/pool.hpp"
#include "conclave/population/detail/species.hpp"
#include "conclave/population/detail/watched.hpp"

namespace conclave::population {

template <PopulationProtocol P>
class Counts : public Watched<P> {
 public:
  using typename Watched<P>::State;
  using typename Watched<P>::Tally;
  static constexpr AgentCount most_agents = AgentCount{1} << 62;
  static_assert(TallyOf<Tally, P>);

  Counts(const P& protocol, AgentCount n, std::size_t start, const StreamName& name)
      : Watched<P>(protocol, n, name),
        n_(n),
        schedule_(name.with(Purpose::schedule)),
        species_(protocol_, tally_) {
    CONCLAVE_CHECK(n >= 2 && n <= most_agents);
    fill(start, name.with(Purpose::start));
  }

  // Simulates up to `budget` interactions, fewer only if what is watched for happens, or after
  // about so much work, counted in random variates.
  Interactions advance(Interactions budget, std::uint64_t most_work = UINT64_MAX) {
    const Interactions before = now_;
    const Interactions left = Interactions::max() - now_;
    const Interactions end = budget < left ? now_ + budget : Interactions::max();
    const std::uint64_t pause = work_ + std::min(most_work, UINT64_MAX - work_);
    while (!has_stopped() && now_ < end && work_ < pause) {
      if (is_jumping_) {
        jump(end);
      } else {
        run_batch(end - now_);
      }
    }
    return now_ - before;
  }

  Interactions now() const { return now_; }
  AgentCount size() const { return n_; }
  std::uint64_t work() const { return work_; }
  bool hopeless() const { return tally_.hopeless() || (is_silent_ && !tally_.converged()); }
  bool has_stopped() const {
    return this->is_over() || (is_silent_ && this->watch_ == Watch::convergence);
  }

  // The states that some agent is in, with how many.
  Census<State> census() const {
    Census<State> result;
    for (detail::SpeciesId id = 0; id < census_.size(); ++id) {
      if (census_[id] != 0) result.emplace_back(species_.state(id), census_[id]);
    }
    return result;
  }

  // A fault; returns how many agents it hit, all sets of that many candidates equally likely.
  AgentCount strike(const Fault& fault) requires Corruptible<P> {
    AgentCount candidates = this->candidates(fault, n_);
    AgentCount to_hit = fault.agents_hit(n_, candidates);
    const AgentCount hit = to_hit;
    const std::vector<AgentCount> before = census_;
    for (SpeciesId id = 0; id < before.size(); ++id) {
      if (!this->can_hit(fault, species_.state(id))) continue;
      const AgentCount count =
          hypergeometric(candidates, before[id], to_hit, this->fault_choice_);
      candidates -= before[id];
      to_hit -= count;
      strike_species(fault, id, count);
    }
    recount();
    return hit;
  }

 private:
  using SpeciesId = detail::SpeciesId;
  using Kind = detail::Outcome::Kind;

  // --- costs, in nanoseconds on a common machine; they decide how, never what, is simulated ---

  static constexpr double cost_of_sample = 40;
  static constexpr double cost_of_batch = 150;
  static constexpr double cost_of_collision = 60;
  static constexpr double cost_of_jump = 40;
  static constexpr double cost_of_jump_per_species = 3;
  static constexpr std::size_t most_species_to_jump = 128;

  static constexpr double cost_of_learning = 4;  // per pair of ranks

  double batch_cost() const { return cost_of_batch + cost_of_drawing_; }
  // A batch of t interactions has about 2 t^2 / n collisions; per interaction it is cheapest here.
  double best_length() const {
    return std::sqrt(batch_cost() * static_cast<double>(n_) / (2 * cost_of_collision));
  }
  // Of a batch, per interaction.
  double cost_per_interaction() const {
    const double length = std::max(best_length(), 1.0);
    return batch_cost() / length +
           cost_of_collision * 2 * (length + static_cast<double>(watched_)) /
               static_cast<double>(n_);
  }
  double jump_cost(double reacting) const {
    return reacting *
           (cost_of_jump + cost_of_jump_per_species * static_cast<double>(active_.size()));
  }

  // --- census ---

  void fill(std::size_t start, const StreamName& name) {
    Stream choice(name);
    if (const auto census = starting_census(protocol_, start, n_, choice)) {
      for (const auto& [state, count] : *census) add_agents(state, count);
      return;
    }
    for (AgentCount agent = 0; agent < n_; ++agent) {
      add_agents(protocol_.initial(start, agent, choice), 1);
    }
  }

  void add_agents(const State& state, AgentCount count) {
    if (count == 0) return;
    count_of(species_.id_of(state)) += count;
    add_to(tally_, state, count);
  }

  AgentCount& count_of(SpeciesId id) {
    if (id >= census_.size()) census_.resize(species_.size());
    return census_[id];
  }

  static void add_to(Tally& tally, const State& state, AgentCount count) {
    if constexpr (requires { tally.add(state, count); }) {
      tally.add(state, count);
    } else {
      for (AgentCount i = 0; i < count; ++i) tally.add(state);
    }
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
    Tally fresh = Watched<P>::empty_tally(protocol_, n_);
    for (SpeciesId id = 0; id < census_.size(); ++id) {
      if (census_[id] != 0) add_to(fresh, species_.state(id), census_[id]);
    }
    this->replace_tally(std::move(fresh));
    is_silent_ = is_jumping_ = false;
  }

  // --- ranks: a dense numbering of the species that are or were lately occupied ---

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

  std::size_t occupied() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(active_, [this](SpeciesId id) { return census_[id] != 0; }));
  }

  void add_rank(SpeciesId id) {
    const auto rank = static_cast<std::uint32_t>(active_.size());
    active_.push_back(id);
    rank_of_[id] = rank;
    is_learned_ = false;
    for (std::uint32_t other = 0; other < rank; ++other) {
      list_if_watchable(rank, other);
      list_if_watchable(other, rank);
    }
    list_if_watchable(rank, rank);
    rank_of_.resize(species_.size(), no_rank);
  }

  void forget_empty_species() {
    std::erase_if(active_, [this](SpeciesId id) { return census_[id] == 0; });
    watchable_.clear();
    is_learned_ = false;
    if (species_.size() > 4 * active_.size() + 256) renumber_species();
    rank_of_.assign(species_.size(), no_rank);
    active_.clear();  // they come back in the order of their numbers
  }

  void renumber_species() {
    std::vector<AgentCount> census;
    for (const SpeciesId id : active_) census.push_back(census_[id]);
    species_.keep(active_);
    census_ = std::move(census);
  }

  // --- what is watched for ---

  struct WatchablePair {
    std::uint32_t u;  // ranks
    std::uint32_t v;
    bool is_counted;
    std::uint8_t milestone;
  };

  void list_if_watchable(std::uint32_t u, std::uint32_t v) {
    const detail::Outcome& outcome = species_.outcome(active_[u], active_[v]);
    if (!outcome.is_counted && outcome.milestone <= detail::milestone(tally_)) return;
    watchable_.push_back({u, v, outcome.is_counted, outcome.milestone});
  }

  // Reveals agents until no two in the pool can meet in a way that must be noticed at its time.
  void reveal_watched(bool is_near) {
    for (const WatchablePair& pair : watchable_) {
      const bool matters =
          (is_near && pair.is_counted) || pair.milestone > detail::milestone(tally_);
      const AgentCount u = pool_.count(pair.u);
      const AgentCount v = pool_.count(pair.v);
      if (!matters || u == 0 || v == 0 || (pair.u == pair.v && u == 1)) continue;
      const std::uint32_t rank = u <= v ? pair.u : pair.v;
      revealed_.insert(revealed_.end(), pool_.take_all(rank), active_[rank]);
    }
    watched_ = revealed_.size();
  }

  // --- batches ---

  void run_batch(Interactions most) {
    update_ranks();
    double length = std::min({best_length(), most.as_double(), 1e18});
    const AgentCount distance = detail::changes_to_stop(tally_, this->watch_);
    const bool is_near = static_cast<double>(distance) <= length;
    if (!is_near) length = std::min(length, static_cast<double>((distance - 1) / 2));
    begin_batch(is_near);
    run_interactions(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(length)));
    end_batch();
  }

  void begin_batch(bool is_near) {
    counts_.clear();
    for (const SpeciesId id : active_) counts_.push_back(census_[id]);
    pool_.fill(counts_);
    revealed_.clear();
    fresh_pairs_ = 0;
    reveal_watched(is_near);
    collided_ = 0;
    changed_ = 0;
  }

  // Each interaction is a collision with probability m (2n - m - 1) / (n (n - 1)) for the m agents
  // touched so far. Candidates come at the rate for the largest m, and are taken with the ratio.
  void run_interactions(std::uint64_t length) {
    const double most = touched_weight(std::min<AgentCount>(n_, revealed_.size() + 2 * length));
    const Geometric wait(collisions(std::min<AgentCount>(n_, revealed_.size() + 2 * length)),
                         Interactions(n_) * Interactions(n_ - 1));
    std::uint64_t time = 0;
    while (time < length) {
      const Interactions gap = wait(schedule_);
      if (gap > length - time) {
        fresh_pairs_ += length - time;
        time = length;
        break;
      }
      const auto skipped = static_cast<std::uint64_t>(gap.as_wide());
      fresh_pairs_ += skipped - 1;
      time += skipped;
      if (uniform() * most >= touched_weight(touched())) {
        ++fresh_pairs_;
      } else if (!collide()) {
        break;
      }
    }
    now_ += time;
    length_ = time;
  }

  double uniform() { return static_cast<double>(schedule_.word() >> 11) * 0x1p-53; }
  AgentCount touched() const { return revealed_.size() + 2 * fresh_pairs_; }
  Interactions collisions(AgentCount touched) const {
    return Interactions(touched) * Interactions(2 * n_ - touched - 1);
  }
  double touched_weight(AgentCount touched) const {
    return static_cast<double>(touched) * static_cast<double>(2 * n_ - touched - 1);
  }

  // An interaction with at least one agent touched before, all of them equally likely. False if
  // the batch must end here.
  bool collide() {
    ++collided_;
    const AgentCount m = touched();
    if (schedule_.below64(2 * n_ - m - 1) < n_ - 1) {
      const std::size_t initiator = reveal(schedule_.below64(m));
      const AgentCount other = schedule_.below64(n_ - 1);
      if (other >= m - 1) return interact(initiator, reveal_untouched());
      return interact(initiator, reveal(other + (other >= initiator ? 1 : 0)));
    }
    const std::size_t responder = reveal(schedule_.below64(m));
    return interact(reveal_untouched(), responder);
  }

  // The place in revealed_ of the touched agent with this number. Numbers beyond the revealed
  // agents are those of the fresh pairs, two for each; one of these pairs is then revealed.
  std::size_t reveal(AgentCount number) {
    const std::size_t place = revealed_.size();
    if (number < place) return static_cast<std::size_t>(number);
    --fresh_pairs_;
    reveal_untouched();
    reveal_untouched();
    interact(place, place + 1);
    return place + ((number - place) & 1);
  }

  std::size_t reveal_untouched() {
    revealed_.push_back(active_[pool_.take_one(schedule_)]);
    return revealed_.size() - 1;
  }

  // Lets two revealed agents interact; false if the batch must end with this interaction.
  bool interact(std::size_t initiator, std::size_t responder) {
    const SpeciesId u = revealed_[initiator];
    const SpeciesId v = revealed_[responder];
    const detail::Outcome outcome = species_.outcome(u, v);
    if (!outcome.changes) return true;
    const auto [new_u, new_v] = decide(outcome, u, v);
    revealed_[initiator] = new_u;
    revealed_[responder] = new_v;
    ++changed_;
    return note(outcome, u, v, new_u, new_v);
  }

  std::pair<SpeciesId, SpeciesId> decide(const detail::Outcome& outcome, SpeciesId u,
                                         SpeciesId v) {
    if (outcome.kind == Kind::certain) return {outcome.u, outcome.v};
    State new_u = species_.state(u);
    State new_v = species_.state(v);
    protocol_.interact(new_u, new_v, choice_);
    const SpeciesId id = species_.id_of(new_u);
    return {id, species_.id_of(new_v)};
  }

  // Tells the tally of an interaction. For a milestone its counts must be those of this moment, so
  // the fresh pairs are drawn first.
  bool note(const detail::Outcome& outcome, SpeciesId u, SpeciesId v, SpeciesId new_u,
            SpeciesId new_v) {
    const bool is_new = outcome.milestone > detail::milestone(tally_);
    if (!is_new && !outcome.is_counted) return true;
    if (is_new) draw_fresh_pairs();
    tally_.replace(species_.state(u), species_.state(v), species_.state(new_u),
                   species_.state(new_v));
    return !is_new && !has_stopped();
  }

  // Who the fresh pairs were, and what became of them: all together, or one by one where that is
  // less work.
  void draw_fresh_pairs() {
    const auto ranks = static_cast<double>(active_.size());
    const double learning = is_learned_ ? 0 : cost_of_learning * ranks * ranks;
    const double expected = std::min(cost_of_drawing_, cost_of_sample * ranks * ranks) + learning;
    if (static_cast<double>(fresh_pairs_) * cost_of_collision < expected) {
      while (fresh_pairs_ != 0) reveal(revealed_.size());
      cost_of_drawing_ = cost_of_sample * ranks * ranks;
      return;
    }
    if (!is_learned_) learn();
    draw_together();
    cost_of_drawing_ = cost_of_sample * static_cast<double>(pairing_.samples()) + learning;
  }

  void learn() {
    in_order_ = active_;
    std::ranges::sort(in_order_, [this](SpeciesId a, SpeciesId b) {
      return comes_before(species_.state(a), species_.state(b));
    });
    pairing_.learn(in_order_, [this](SpeciesId u, SpeciesId v) { return species_.outcome(u, v); });
    is_learned_ = true;
  }

  void draw_together() {
    pool_in_order_.clear();
    for (const SpeciesId id : in_order_) pool_in_order_.push_back(pool_.count(rank_of_[id]));
    pairing_.meet(pool_in_order_, pool_.total(), fresh_pairs_, schedule_);
    fresh_pairs_ = 0;
    work_ += pairing_.samples();
    for (const auto& [from, to, count] : pairing_.moves()) shift(from, to, count);
    for (const auto& game : pairing_.games()) play(game);
  }

  void shift(SpeciesId from, SpeciesId to, AgentCount count) {
    if (from == to || count == 0) return;
    changed_ += count;
    census_[from] -= count;
    count_of(to) += count;
    if constexpr (CensusTallyOf<Tally, P>) {
      tally_.remove(species_.state(from), count);
      tally_.add(species_.state(to), count);
    }
  }

  // So many meetings whose outcome is random: a multinomial split of their number.
  void play(const detail::Pairing::Game& game) {
    const detail::Outcome outcome = species_.outcome(game.u, game.v);
    if (outcome.kind == Kind::too_many) return play_one_by_one(game, outcome);
    const detail::Lottery& lottery = species_.lottery(outcome);
    std::uint64_t weight = lottery.total;
    AgentCount left = game.count;
    for (const auto& ticket : lottery.tickets) {
      if (left == 0) return;
      const AgentCount count = binomial(left, ticket.weight, weight, choice_);
      ++work_;
      weight -= ticket.weight;
      left -= count;
      shift(game.u, ticket.u, count);
      shift(game.v, ticket.v, count);
    }
  }

  void play_one_by_one(const detail::Pairing::Game& game, const detail::Outcome& outcome) {
    for (AgentCount i = 0; i < game.count; ++i) {
      const auto [u, v] = decide(outcome, game.u, game.v);
      shift(game.u, u, 1);
      shift(game.v, v, 1);
    }
    work_ += game.count;
  }

  void end_batch() {
    draw_fresh_pairs();
    for (std::size_t rank = 0; rank < active_.size(); ++rank) {
      census_[active_[rank]] += pool_.count(rank) - counts_[rank];  // modulo 2^64
    }
    census_.resize(species_.size());
    for (const SpeciesId id : revealed_) ++census_[id];
    work_ += 1 + collided_;
    const double reacting = static_cast<double>(changed_) / static_cast<double>(length_);
    if (jump_cost(reacting) < cost_per_interaction()) begin_jumping();
  }

  // --- jumps ---

  void begin_jumping() {
    update_ranks();
    const std::size_t ranks = active_.size();
    if (ranks > most_species_to_jump) return;
    is_jumping_ = true;
    reacts_.assign(ranks * ranks, 0);
    reacting_partners_.assign(ranks, 0);
    for (std::size_t u = 0; u < ranks; ++u) {
      for (std::size_t v = 0; v < ranks; ++v) {
        const bool reacts = species_.outcome(active_[u], active_[v]).changes;
        reacts_[v * ranks + u] = reacts;
        reacting_partners_[u] += reacts ? census_[active_[v]] : 0;
      }
    }
    update_weight();
  }

  // Agents that one of this rank could change something with, not counting itself.
  AgentCount partners_of(std::size_t rank) const {
    const bool with_itself = reacts_[rank * active_.size() + rank] != 0;
    return reacting_partners_[rank] - (with_itself && reacting_partners_[rank] != 0 ? 1 : 0);
  }

  void update_weight() {
    weight_ = Interactions();
    for (std::size_t rank = 0; rank < active_.size(); ++rank) {
      const AgentCount count = census_[active_[rank]];
      if (count != 0) weight_ += Interactions(count) * Interactions(partners_of(rank));
    }
    is_silent_ = weight_ == 0u;
  }

  void jump(Interactions end) {
    const Interactions pairs = Interactions(n_) * Interactions(n_ - 1);
    if (is_silent_) {
      now_ = end;
      return;
    }
    if (jump_cost(weight_.as_double() / pairs.as_double()) > 2 * cost_per_interaction()) {
      is_jumping_ = false;
      return;
    }
    ++work_;
    const Interactions wait = Geometric(weight_, pairs)(schedule_);
    if (wait > end - now_) {  // a geometric wait has no memory
      now_ = end;
      return;
    }
    now_ += wait;
    react();
  }

  // One of the pairs that react, all equally likely, meets.
  void react() {
    Interactions pick = below_wide(schedule_, weight_);
    std::size_t initiator = 0;
    for (;; ++initiator) {
      const AgentCount count = census_[active_[initiator]];
      if (count == 0) continue;
      const Interactions pairs = Interactions(count) * Interactions(partners_of(initiator));
      if (pick < pairs) break;
      pick -= pairs;
    }
    AgentCount partner = schedule_.below64(partners_of(initiator));
    std::size_t responder = 0;
    for (;; ++responder) {
      if (reacts_[responder * active_.size() + initiator] == 0) continue;
      const AgentCount others = census_[active_[responder]] - (responder == initiator ? 1 : 0);
      if (partner < others) break;
      partner -= others;
    }
    react(active_[initiator], active_[responder]);
  }

  void react(SpeciesId u, SpeciesId v) {
    const detail::Outcome outcome = species_.outcome(u, v);
    const auto [new_u, new_v] = decide(outcome, u, v);
    if (new_u == u && new_v == v) return;
    note(outcome, u, v, new_u, new_v);
    change_one(u, new_u);
    change_one(v, new_v);
    const bool is_known = rank_of(new_u) != no_rank && rank_of(new_v) != no_rank;
    is_known ? update_weight() : begin_jumping();
  }

  std::uint32_t rank_of(SpeciesId id) const { return id < rank_of_.size() ? rank_of_[id] : no_rank; }

  void change_one(SpeciesId from, SpeciesId to) {
    --census_[from];
    ++count_of(to);
    change_partners(rank_of(from), 0 - AgentCount{1});
    if (rank_of(to) != no_rank) change_partners(rank_of(to), 1);
  }

  void change_partners(std::size_t rank, AgentCount difference) {
    const std::size_t ranks = active_.size();
    for (std::size_t u = 0; u < ranks; ++u) {
      reacting_partners_[u] += reacts_[rank * ranks + u] != 0 ? difference : 0;
    }
  }

  using Watched<P>::choice_;
  using Watched<P>::protocol_;
  using Watched<P>::tally_;

  AgentCount n_;
  Stream schedule_;
  detail::SpeciesTable<P, Tally> species_;
  std::vector<AgentCount> census_;  // by species
  Interactions now_;
  std::uint64_t work_ = 0;

  std::vector<SpeciesId> active_;       // by rank
  std::vector<std::uint32_t> rank_of_;  // by species
  std::vector<WatchablePair> watchable_;
  detail::Pairing pairing_;
  bool is_learned_ = false;               // pairing_ knows all ranks
  std::vector<SpeciesId> in_order_;       // active_ in the order of the states
  std::vector<AgentCount> pool_in_order_;

  // The batch.
  std::vector<AgentCount> counts_;  // at its start, by rank
  detail::Pool pool_;               // agents not revealed, by rank, as they were at its start
  AgentCount fresh_pairs_ = 0;      // pairs in the pool that have met, not drawn yet
  std::vector<SpeciesId> revealed_;
  std::uint64_t watched_ = 0;   // agents revealed at its start
  std::uint64_t length_ = 0;    // interactions
  std::uint64_t collided_ = 0;  // collisions
  std::uint64_t changed_ = 0;   // agents that changed, as counted: what shows how much happens
  double cost_of_drawing_ = 0;  // what the last fresh pairs cost

  // Jumping.
  bool is_jumping_ = false;
  bool is_silent_ = false;                       // nothing can change any more
  std::vector<std::uint8_t> reacts_;             // initiator's rank u, responder's v: v * ranks + u
  std::vector<AgentCount> reacting_partners_;    // by initiator's rank
  Interactions weight_;                          // ordered pairs of agents that react
};

}  // namespace conclave::population
