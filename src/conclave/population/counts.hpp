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
// The event that is watched for happens at an exact interaction, so batches end before it
// can happen; or agents whose meetings could bring it about are revealed from the beginning, so
// that all these meetings are collisions; or interactions are carried out one by one.
// docs/counts-engine.md tells why all this is exact, and what it costs. The file is long because
// batches and jumps share one census, and go over into each other.
//
// A look at the trial inside a batch does not end the batch. The batch is carried out as it would
// have been, with a record of what happened; what the engine then shows, up to the end of the
// batch, is the census after the part of it that has passed (detail/batch_record.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "conclave/base/binomial.hpp"
#include "conclave/base/geometric.hpp"
#include "conclave/base/interactions.hpp"
#include "conclave/base/random.hpp"
#include "conclave/model/population.hpp"
#include "conclave/population/detail/batch_record.hpp"
#include "conclave/population/detail/batch_tally.hpp"
#include "conclave/population/detail/census_keeper.hpp"
#include "conclave/population/detail/pairing.hpp"
#include "conclave/population/detail/pool.hpp"
#include "conclave/population/detail/reacting_pairs.hpp"
#include "conclave/population/detail/reaction.hpp"

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

// For 2 to 2^62 agents. Memory: tables of pairs of states, for up to 4096 states, and four bytes
// per agent revealed in a batch. Costs may be replaced in tests, to force one way of simulating.
template <PopulationProtocol P, class Costs = CountsCosts>
class Counts : public detail::CensusKeeper<P> {
 public:
  using typename detail::CensusKeeper<P>::State;
  using typename detail::CensusKeeper<P>::Tally;

  Counts(const P& protocol, AgentCount n, StartingPoint<State> start, const StreamName& name)
      : detail::CensusKeeper<P>(protocol, n, start, name),
        name_(name),
        schedule_(name.with(Purpose::schedule)) {}

  Counts(const P& protocol, AgentCount n, const Census<State>& census, const StreamName& name)
      : detail::CensusKeeper<P>(protocol, n, census, name),
        name_(name),
        schedule_(name.with(Purpose::schedule)) {}

  // Simulates up to `budget` interactions, fewer only if what is watched for happens, or after
  // about so much work, counted in random variates. Batches end at the horizon, so many
  // interactions from now and no fewer than the budget. Where the budget ends before it, what is
  // shown there is exact in law and follows from the seed and the time alone, and the trial goes on
  // as if it had not been looked at.
  Interactions advance(Interactions budget, std::uint64_t most_work, Interactions horizon) {
    const Interactions before = now();
    const Interactions end = later(budget);
    const Interactions last = later(horizon);
    const std::uint64_t pause = work_ + std::min(most_work, UINT64_MAX - work_);
    while (!has_stopped() && now() < end && (work_ < pause || !stands_still())) {
      if (inside_) {
        look_further(end);
      } else if (is_jumping_) {
        jump(end);
      } else {
        run_batch(end, last);
      }
    }
    return now() - before;
  }
  Interactions advance(Interactions budget, std::uint64_t most_work = UINT64_MAX) {
    return advance(budget, most_work, budget);
  }

  Interactions now() const { return inside_ ? inside_->time : now_; }
  AgentCount leaders() const { return seen_tally().leaders(); }
  bool converged() const { return seen_tally().converged(); }
  std::vector<Observation> observations() const {
    return detail::observations_of(seen_tally(), *this);
  }
  bool hopeless() const {
    return seen_tally().hopeless() || (is_silent() && !seen_tally().converged());
  }
  bool has_stopped() const {
    if (inside_) return false;  // batches end where what is watched for happens
    return this->is_over() || (is_silent() && this->watch_ == Watch::convergence);
  }
  Census<State> census() const {
    return inside_ ? this->census_from(inside_->census) : this->census_from(census_);
  }

  // Whether nothing is drawn that is still to be shown: neither the rest of a batch nor the next
  // interaction that changes something.
  bool stands_still() const { return !inside_ && !next_event_; }
  std::uint64_t work() const { return work_; }

  // The cost of an interaction at present, in nanoseconds on a common machine: an estimate from the
  // number of random variates it takes, the same on every machine.
  double cost() const {
    if (!is_jumping_) return plan_.cost;
    return cost_of_jumping(reacting_part());
  }

  // A batch was planned for what was watched for when it began.
  void watch(Watch what) {
    if (inside_ && what != this->watch_) end_where_seen();
    detail::CensusKeeper<P>::watch(what);
  }

  // A fault; returns how many agents it hit, all sets of that many candidates equally likely.
  AgentCount strike(const Fault& fault) requires Corruptible<P> {
    if (inside_) end_where_seen();
    is_jumping_ = false;
    next_event_.reset();
    return this->strike_census(fault);
  }

 private:
  using SpeciesId = detail::SpeciesId;
  using Kind = detail::Outcome::Kind;
  using detail::CensusKeeper<P>::no_rank;

  // --- costs ---

  // Pairs of ranks have square tables, up to this many ranks.
  static constexpr std::size_t most_ranks_in_tables = 4096;
  // Agents revealed in a batch take four bytes each.
  static constexpr AgentCount most_revealed = AgentCount{1} << 26;

  double agents() const { return static_cast<double>(n_); }
  double ranks() const { return static_cast<double>(active().size()); }
  double cost_of_batch() const { return Costs::batch + cost_of_drawing_; }
  double cost_of_collision() const { return Costs::collision(species_.table_bytes()); }

  // A batch of t interactions has about 2 t^2 / n collisions; per interaction it is cheapest here.
  double best_length() const {
    const double best = std::sqrt(cost_of_batch() * agents() / (2 * cost_of_collision()));
    const bool is_drawn_one_by_one = active().size() > most_ranks_in_tables;
    constexpr AgentCount most_one_by_one = most_revealed / 16;
    const double most = is_drawn_one_by_one ? static_cast<double>(most_one_by_one) : 1e18;
    return std::clamp(best, 1.0, most);
  }
  // Cost per interaction of a batch of this length at whose start so many agents are revealed.
  double cost_of_batch(double length, double revealed) const {
    const double drawing = std::min(cost_of_drawing_ / length, cost_of_collision());
    const double colliding = std::min(1.0, (length + revealed) / agents());
    const double beginning = Costs::batch + cost_of_ranking_ + Costs::revealed * revealed;
    return beginning / length + drawing + 2 * cost_of_collision() * colliding;
  }
  // Cost per interaction of jumping, given the fraction of interactions that change something.
  double cost_of_jumping(double reacting) const {
    return reacting * (Costs::jump + Costs::jump_per_rank * ranks());
  }

  // --- the event that a batch must not miss ---

  enum class Care : std::uint8_t {
    calm,      // a batch too short to bring about what is watched for
    watchful,  // one in which meetings that could bring it about are collisions
    single,    // one interaction
  };
  struct Plan {
    Care care = Care::calm;
    double length = 1;
    double cost = 0;  // per interaction
  };

  // The cheapest way. Afterwards watched_ranks_ are those whose agents it reveals.
  Plan best_plan() {
    const double best = best_length();
    const AgentCount distance = detail::changes_to_stop(tally_, this->watch_);
    const AgentCount calm = distance == 0 ? 0 : (distance - 1) / 2;  // interactions
    const double length = std::min(best, static_cast<double>(calm));
    Plan watchful{Care::watchful, best, infinite};
    if (static_cast<double>(distance) <= best) {
      watchful.cost = cost_of_batch(best, find_watched(Care::watchful));
    }
    if (calm == 0 || watchful.cost <= cost_of_batch(length, 0)) return cheaper(watchful, single());
    const Plan calmly{Care::calm, length, cost_of_batch(length, find_watched(Care::calm))};
    if (watchful.cost > calmly.cost) return cheaper(calmly, single());
    find_watched(Care::watchful);
    return cheaper(watchful, single());
  }

  static constexpr double infinite = std::numeric_limits<double>::infinity();

  Plan single() const {
    const double filling = Costs::jump_per_rank * ranks();
    return {Care::single, 1, Costs::batch + filling + 2 * cost_of_collision()};
  }
  static Plan cheaper(const Plan& plan, const Plan& other) {
    return plan.cost <= other.cost ? plan : other;
  }

  // Agents must be revealed until no two in the pool can meet in a way that must be noticed at its
  // time. Finds their ranks; returns how many agents that are, infinitely many if too many.
  double find_watched(Care care) {
    watched_ranks_.clear();
    if (care == Care::calm && !detail::has_milestones<Tally>) return 0;
    is_watched_.assign(active().size(), false);
    const auto in_pool = [&](std::uint32_t rank) {
      return is_watched_[rank] ? 0 : census_[active()[rank]];
    };
    AgentCount agents = 0;
    pairs_looked_at_ += this->watchable().size();
    for (const auto& pair : this->watchable()) {
      const bool matters =
          (care == Care::watchful && pair.is_counted) || pair.milestone > detail::milestone(tally_);
      const AgentCount u = in_pool(pair.u);
      const AgentCount v = in_pool(pair.v);
      if (!matters || u == 0 || v == 0 || (pair.u == pair.v && u == 1)) continue;
      agents += std::min(u, v);
      if (agents > most_revealed) return infinite;
      watched_ranks_.push_back(u <= v ? pair.u : pair.v);
      is_watched_[watched_ranks_.back()] = true;
    }
    return static_cast<double>(agents);
  }

  // --- batches ---

  // Seen from `end` on, cut short at `last`.
  void run_batch(Interactions end, Interactions last) {
    const std::uint64_t version = this->version();
    this->update_ranks();
    cost_of_ranking_ =
        Costs::learning * 2 * ranks() * static_cast<double>(this->version() - version);
    plan_ = best_plan();
    const auto length =
        static_cast<std::uint64_t>(std::min(plan_.length, (last - now_).as_double()));
    if (end - now_ < length) begin_record();
    begin_batch();
    run_interactions(length);
    end_batch();
    if (!record_ || now_ <= end) return finish_batch();
    inside_.emplace(now_ - length_, census_, tally_);
    look_further(end);
  }

  void finish_batch() {
    record_.reset();
    consider_jumping();
  }

  // --- the census inside a batch ---

  // The view of an earlier moment, while the batch itself has been carried out further.
  struct Inside {
    Inside(Interactions now, std::vector<AgentCount> counts, Tally seen)
        : time(now), census(std::move(counts)), tally(std::move(seen)) {}
    Interactions time;
    std::vector<AgentCount> census;
    Tally tally;
  };

  const Tally& seen_tally() const { return inside_ ? inside_->tally : tally_; }

  void begin_record() {
    record_.emplace(census_, tally_);
    StreamName name = name_;
    name.part = (name.part + 1) * 0x9e3779b97f4a7c15 ^ static_cast<std::uint64_t>(now_.as_wide());
    record_->steps.begin(name);
  }

  // Shows the trial at `end`, or at the end of the batch.
  void look_further(Interactions end) {
    if (end >= now_) {
      inside_.reset();
      return finish_batch();
    }
    const Interactions passed = end - (now_ - length_);
    inside_->time = end;
    show(static_cast<std::uint64_t>(passed.as_wide()));
  }

  void show(std::uint64_t passed) {
    inside_->census = record_->census;
    inside_->census.resize(species_.size());
    for (const auto& [from, to, count] : record_->steps.changes(passed, length_)) {
      inside_->census[from] -= count;
      inside_->census[to] += count;
    }
    inside_->tally = record_->tally;
    if constexpr (CensusTallyOf<Tally, P>) {
      tell_difference(inside_->tally, record_->census, inside_->census);
    } else {
      for (const auto& step : record_->steps.steps()) {
        if (!step.is_collision || step.number > passed) continue;
        inside_->tally.replace(species_.state(step.u), species_.state(step.v),
                               species_.state(step.new_u), species_.state(step.new_v));
      }
    }
  }

  // Forgets what a batch has drawn beyond the time at which it was looked at. What is seen there is
  // exact in law, and what follows is drawn from words that had no part in it.
  void end_where_seen() {
    now_ = inside_->time;
    census_ = inside_->census;
    tally_ = inside_->tally;
    inside_.reset();
    record_.reset();
  }

  // Tells a tally of a census how the next one differs from it.
  void tell_difference(Tally& tally, const std::vector<AgentCount>& before,
                       const std::vector<AgentCount>& after) const {
    for (SpeciesId id = 0; id < after.size(); ++id) {
      const AgentCount old = id < before.size() ? before[id] : 0;
      if (after[id] < old) tally.remove(species_.state(id), old - after[id]);
      if (after[id] > old) tally.add(species_.state(id), after[id] - old);
    }
  }

  // --- batches, continued ---

  void begin_batch() {
    count_ranks();
    pool_.fill(counts_);
    revealed_.clear();
    fresh_pairs_ = collisions_ = changes_ = 0;
    tells_later_ =
        plan_.care == Care::calm && CensusTallyOf<Tally, P> && !detail::has_milestones<Tally>;
    if (plan_.care == Care::single) watched_ranks_.clear();
    reveal_watched();
  }

  void count_ranks() {
    counts_.resize(active().size());
    for (std::size_t rank = 0; rank < counts_.size(); ++rank) {
      counts_[rank] = census_[active()[rank]];
    }
  }

  void reveal_watched() {
    for (const std::uint32_t rank : watched_ranks_) {
      revealed_.insert(revealed_.end(), pool_.take_all(rank), active()[rank]);
    }
    watched_ = revealed_.size();
  }

  // Each interaction is a collision with probability m (2n - m - 1) / (n (n - 1)) for the m agents
  // touched so far. Candidates come at the rate for the largest m, and are taken with the ratio;
  // pieces of the batch have rates of their own, so that few come in vain.
  void run_interactions(std::uint64_t length) {
    const std::uint64_t pieces = pieces_of(length);
    length_ = 0;
    bool goes_on = true;
    for (std::uint64_t left = pieces; left != 0 && goes_on; --left) {
      goes_on = run_piece((length - length_) / left);
    }
    now_ += length_;
  }

  // A new rate costs about as much as two candidates.
  std::uint64_t pieces_of(std::uint64_t length) const {
    const auto t = static_cast<double>(length);
    const double collisions = 2 * t * (t + static_cast<double>(watched_)) / agents();
    return 1 + static_cast<std::uint64_t>(std::sqrt(std::min(collisions, 1e4) / 2));
  }

  // False if the batch must end here.
  bool run_piece(std::uint64_t length) {
    const AgentCount most_touched = std::min<AgentCount>(n_, touched() + 2 * length);
    const double most = colliding_pairs(most_touched).as_double();
    const Geometric wait(colliding_pairs(most_touched), all_pairs());
    std::uint64_t left = length;
    bool goes_on = true;
    while (left != 0 && goes_on) {
      const Interactions gap = wait(schedule_);
      const bool is_far = gap > left;
      const std::uint64_t skipped = is_far ? left : static_cast<std::uint64_t>(gap.as_wide()) - 1;
      fresh_pairs_ += skipped;
      left -= skipped;
      if (is_far) break;
      --left;
      number_ = length_ + (length - left);
      if (uniform() * most < about_colliding(touched())) {
        goes_on = collide();
      } else {
        ++fresh_pairs_;
      }
    }
    length_ += length - left;
    return goes_on;
  }

  double uniform() { return static_cast<double>(schedule_.word() >> 11) * 0x1p-53; }
  AgentCount touched() const { return revealed_.size() + 2 * fresh_pairs_; }
  Interactions all_pairs() const { return Interactions(n_) * Interactions(n_ - 1); }
  Interactions colliding_pairs(AgentCount touched) const {
    return Interactions(touched) * Interactions(2 * n_ - touched - 1);
  }
  double about_colliding(AgentCount touched) const {
    const auto real = [](AgentCount count) {  // below 2^63, where this is one instruction
      return static_cast<double>(static_cast<std::int64_t>(count));
    };
    return real(touched) * real(2 * n_ - touched - 1);
  }

  // An interaction with at least one agent touched before, all of them equally likely. False if
  // the batch must end here.
  bool collide() {
    ++collisions_;
    const AgentCount m = touched();
    const AgentCount pick = schedule_.below64(2 * n_ - m - 1);  // the other agent, and its role
    const std::size_t touched = reveal(schedule_.below64(m));
    if (pick < m - 1) return interact<When::now>(touched, reveal(pick + (pick >= touched ? 1 : 0)));
    const std::size_t other = reveal_untouched();
    const bool initiates = pick < n_ - 1;
    return interact<When::now>(initiates ? touched : other, initiates ? other : touched);
  }

  // The place in revealed_ of the touched agent with this number. Numbers beyond the revealed
  // agents are those of the fresh pairs, two for each; one of these pairs is then revealed.
  std::size_t reveal(AgentCount number) {
    const std::size_t place = revealed_.size();
    if (number < place) return static_cast<std::size_t>(number);
    --fresh_pairs_;
    reveal_untouched();
    reveal_untouched();
    interact<When::before>(place, place + 1);
    return place + ((number - place) & 1);
  }

  std::size_t reveal_untouched() {
    revealed_.push_back(active()[pool_.take_one(schedule_)]);
    return revealed_.size() - 1;
  }

  // When in the batch two agents have met: in the present interaction, some time before it, or
  // some time in the batch.
  enum class When : std::uint8_t { now, before, some_time };

  // Lets two revealed agents interact; false if the batch must end with this interaction.
  template <When when>
  bool interact(std::size_t initiator, std::size_t responder) {
    const SpeciesId u = revealed_[initiator];
    const SpeciesId v = revealed_[responder];
    const detail::Outcome outcome = species_.outcome(u, v);
    const auto [new_u, new_v] = this->decide(outcome, u, v);
    revealed_[initiator] = new_u;
    revealed_[responder] = new_v;
    changes_ += outcome.changes ? 1 : 0;
    if (record_) [[unlikely]] {
      record_step<when>(u, v, new_u, new_v);
    }
    return tells_later_ || note(outcome, u, v, new_u, new_v);
  }

  template <When when>
  void record_step(SpeciesId u, SpeciesId v, SpeciesId new_u, SpeciesId new_v) {
    detail::BatchRecord& record = record_->steps;
    if constexpr (when == When::now) record.add_collision({number_, u, v, new_u, new_v, true});
    if constexpr (when == When::before) {
      record.add_revealed(number_, {0, u, v, new_u, new_v, false});
    }
    if constexpr (when == When::some_time) record.fresh().add(1, {u, new_u}, {v, new_v});
  }

  // Tells the tally of an interaction. For a milestone its counts must be those of this moment, so
  // the fresh pairs are drawn first, and the batch is over.
  bool note(const detail::Outcome& outcome, SpeciesId u, SpeciesId v, SpeciesId new_u,
            SpeciesId new_v) {
    const bool is_new = outcome.milestone > detail::milestone(tally_);
    if (!is_new && !outcome.is_counted) return true;
    if (is_new) draw_fresh_pairs();
    tally_.replace(species_.state(u), species_.state(v), species_.state(new_u),
                   species_.state(new_v));
    return !is_new && !this->is_over();
  }

  // Who the fresh pairs were, and what became of them: all together, or one by one where that is
  // less work.
  void draw_fresh_pairs() {
    const double all = ranks() * ranks();
    const bool must_learn = learned_version_ != this->version();
    const double learning = must_learn ? Costs::learning * all : 0;
    const double together = std::min(cost_of_drawing_, Costs::sample * all) + learning;
    const double one_by_one = static_cast<double>(fresh_pairs_) * cost_of_collision();
    const bool must_be_apart = plan_.care == Care::single || active().size() > most_ranks_in_tables;
    if (must_be_apart || one_by_one < together) {
      draw_one_by_one();
      cost_of_drawing_ = Costs::sample * all;
      return;
    }
    if (must_learn) learn();
    draw_together();
    cost_of_drawing_ = Costs::sample * static_cast<double>(pairing_.samples()) + learning;
  }

  // The places of a whole block in the table of outcomes, which may be far away, are fetched before
  // the first is needed.
  void draw_one_by_one() {
    while (fresh_pairs_ != 0) {
      const std::size_t first = revealed_.size();
      const AgentCount pairs = std::min<AgentCount>(fresh_pairs_, 16);
      for (AgentCount pair = 0; pair < pairs; ++pair) {
        const std::size_t initiator = reveal_untouched();
        species_.fetch(revealed_[initiator], revealed_[reveal_untouched()]);
      }
      fresh_pairs_ -= pairs;
      for (std::size_t next = first; next < first + 2 * pairs; next += 2) {
        interact<When::some_time>(next, next + 1);
      }
    }
  }

  void learn() {
    learned_version_ = this->version();
    in_order_ = active();
    std::ranges::sort(in_order_, [this](SpeciesId a, SpeciesId b) {
      return comes_before(species_.state(a), species_.state(b));
    });
    pairing_.learn(in_order_, [this](SpeciesId u, SpeciesId v) { return species_.outcome(u, v); });
  }

  void draw_together() {
    pool_in_order_.clear();
    for (const SpeciesId id : in_order_) pool_in_order_.push_back(pool_.count(this->rank_of(id)));
    pairing_.meet(pool_in_order_, pool_.total(), fresh_pairs_, schedule_, recorded_pairs());
    fresh_pairs_ = 0;
    work_ += pairing_.samples();
    for (const auto& [from, to, count] : pairing_.moves()) shift(from, to, count);
    for (const auto& meetings : pairing_.random_meetings()) apply_random(meetings);
  }

  void shift(SpeciesId from, SpeciesId to, AgentCount count) {
    if (from == to || count == 0) return;
    changes_ += count;
    census_[from] -= count;
    this->count_of(to) += count;
    if constexpr (CensusTallyOf<Tally, P>) {
      if (tells_later_) return;
      tally_.remove(species_.state(from), count);
      tally_.add(species_.state(to), count);
    }
  }

  // So many meetings whose outcome is random: a multinomial split of their number.
  void apply_random(const detail::Pairing::RandomMeetings& meetings) {
    const detail::Outcome outcome = species_.outcome(meetings.u, meetings.v);
    if (outcome.kind == Kind::too_many) return apply_one_by_one(meetings, outcome);
    const detail::OutcomeDistribution& distribution = species_.distribution(outcome);
    std::uint64_t weight = distribution.total;
    AgentCount left = meetings.count;
    for (const auto& branch : distribution.branches) {
      if (left == 0) return;
      const AgentCount count = binomial(left, branch.weight, weight, choice_);
      ++work_;
      weight -= branch.weight;
      left -= count;
      shift(meetings.u, branch.u, count);
      shift(meetings.v, branch.v, count);
      if (record_)
        record_->steps.fresh().add(count, {meetings.u, branch.u}, {meetings.v, branch.v});
    }
  }

  detail::PairGroups* recorded_pairs() { return record_ ? &record_->steps.fresh() : nullptr; }

  void apply_one_by_one(const detail::Pairing::RandomMeetings& meetings,
                        const detail::Outcome& outcome) {
    for (AgentCount i = 0; i < meetings.count; ++i) {
      const auto [u, v] = this->decide(outcome, meetings.u, meetings.v);
      shift(meetings.u, u, 1);
      shift(meetings.v, v, 1);
      if (record_) record_->steps.fresh().add(1, {meetings.u, u}, {meetings.v, v});
    }
    work_ += meetings.count;
  }

  void end_batch() {
    draw_fresh_pairs();
    for (std::size_t rank = 0; rank < active().size(); ++rank) {
      census_[active()[rank]] += pool_.count(rank) - counts_[rank];  // modulo 2^64
    }
    census_.resize(species_.size());
    for (const SpeciesId id : revealed_) ++census_[id];
    if (tells_later_) tell_tally();
    work_ += 1 + collisions_;
  }

  // Tells the tally of the whole batch at once: by how much the number of agents of each species
  // has changed.
  void tell_tally() {
    if constexpr (CensusTallyOf<Tally, P>) {
      for (SpeciesId id = 0; id < census_.size(); ++id) {
        const std::uint32_t rank = this->rank_of(id);
        const AgentCount before = rank == no_rank ? 0 : counts_[rank];
        if (census_[id] < before) tally_.remove(species_.state(id), before - census_[id]);
        if (census_[id] > before) tally_.add(species_.state(id), census_[id] - before);
      }
    }
  }

  // --- jumps ---

  // So many interactions from what is shown, or the end of time.
  Interactions later(Interactions interactions) const {
    return interactions < Interactions::max() - now() ? now() + interactions : Interactions::max();
  }

  bool is_silent() const { return is_jumping_ && reacting_.number() == 0u; }

  // To count the reacting pairs must not cost more than jumps would have saved since the last time.
  void consider_jumping() {
    const auto length = static_cast<double>(length_);
    const double jumping = cost_of_jumping(static_cast<double>(changes_) / length);
    saved_ = std::max(0.0, saved_ + (plan_.cost - jumping) * length);
    if (saved_ <= Costs::learning * ranks() * ranks()) return;
    saved_ = 0;
    begin_jumping();
  }

  void begin_jumping() {
    this->update_ranks();
    if (active().size() <= most_ranks_in_tables) {
      is_jumping_ = true;
      count_reacting();
    } else if (changes_ == 0 && is_without_reactions()) {
      is_jumping_ = true;
      reacting_.clear();
    }
    next_look_ = last_look_ = work_;
    ranks_added_ = 0;
  }

  void count_reacting() {
    count_ranks();
    reacting_.count(counts_, [this](std::size_t u, std::size_t v) { return weight(u, v); });
  }
  detail::PairWeight<P> weight(std::size_t u, std::size_t v) {
    return detail::pair_weight(protocol_, species_.state(active()[u]), species_.state(active()[v]),
                               reacts(u, v));
  }
  Interactions weighted_pairs() const {
    return all_pairs() * Interactions(detail::jump_scale(protocol_));
  }
  double reacting_part() const {
    return reacting_.number().as_double() / weighted_pairs().as_double();
  }
  bool reacts(std::size_t u, std::size_t v) {
    return species_.outcome(active()[u], active()[v]).changes;
  }
  bool is_without_reactions() {
    for (std::size_t u = 0; u < active().size(); ++u) {
      for (std::size_t v = 0; v < active().size(); ++v) {
        const AgentCount needed = u == v ? 2 : 1;
        const bool can_meet = census_[active()[u]] >= needed && census_[active()[v]] != 0;
        if (can_meet && reacts(u, v)) return false;
      }
    }
    return true;
  }

  void jump(Interactions end) {
    const Interactions reacting = reacting_.number();
    if (reacting == 0u) {
      now_ = end;
      return;
    }
    if (!next_event_) {
      if (work_++ >= next_look_ && too_much_reacts()) {
        is_jumping_ = false;
        return;
      }
      next_event_ = later(Geometric(reacting, weighted_pairs())(schedule_));
    }
    if (*next_event_ > end) {
      now_ = end;
      return;
    }
    now_ = *next_event_;
    next_event_.reset();
    react();
  }

  bool too_much_reacts() {
    pairs_looked_at_ = 0;
    const double batch = best_plan().cost;
    const double new_ranks =
        static_cast<double>(ranks_added_) / static_cast<double>(work_ - last_look_);
    const double ranking = Costs::sample * 2 * ranks() * new_ranks;          // per jump
    next_look_ = work_ + std::max<std::uint64_t>(16, pairs_looked_at_ / 4);  // it took so long
    last_look_ = work_;
    ranks_added_ = 0;
    const double part = reacting_part();
    return cost_of_jumping(part) + part * ranking > 2 * batch;
  }

  void react() {
    const auto [initiator, responder] = reacting_.pick(schedule_);
    const SpeciesId u = active()[initiator];
    const SpeciesId v = active()[responder];
    const detail::Outcome outcome = species_.outcome(u, v);
    const auto [new_u, new_v] = decide_after_jump(outcome, u, v);
    if (new_u == u && new_v == v) return;
    note(outcome, u, v, new_u, new_v);
    --census_[u];
    --census_[v];
    ++this->count_of(new_u);
    ++this->count_of(new_v);
    const bool is_new = this->rank_of(new_u) == no_rank || this->rank_of(new_v) == no_rank;
    if (is_new && !rank_new_species()) return;
    reacting_.move_one(initiator, this->rank_of(new_u));
    reacting_.move_one(responder, this->rank_of(new_v));
    reacting_.update_number();
  }

  std::pair<SpeciesId, SpeciesId> decide_after_jump(const detail::Outcome& outcome, SpeciesId u,
                                                    SpeciesId v) {
    if (outcome.kind == Kind::certain) return {outcome.u, outcome.v};
    State new_u = species_.state(u);
    State new_v = species_.state(v);
    detail::interact_after_jump(protocol_, new_u, new_v, choice_);
    const SpeciesId id = species_.id_of(new_u);
    return {id, species_.id_of(new_v)};
  }

  // False if all that reacts had to be counted anew, or jumping is over.
  bool rank_new_species() {
    const std::size_t ranks = active().size();
    const std::uint64_t before = this->version();
    this->update_ranks();
    ranks_added_ += this->version() - before;
    is_jumping_ = active().size() <= most_ranks_in_tables;
    if (!is_jumping_) return false;
    if (this->version() - before != active().size() - ranks) {  // others were forgotten
      count_reacting();
      return false;
    }
    for (std::size_t rank = ranks; rank < active().size(); ++rank) {
      reacting_.add_rank([this](std::size_t u, std::size_t v) { return weight(u, v); });
    }
    return true;
  }

  const std::vector<SpeciesId>& active() const { return detail::CensusKeeper<P>::active(); }
  using detail::CensusKeeper<P>::census_;
  using detail::CensusKeeper<P>::choice_;
  using detail::CensusKeeper<P>::n_;
  using detail::CensusKeeper<P>::protocol_;
  using detail::CensusKeeper<P>::species_;
  using detail::CensusKeeper<P>::tally_;

  // The record of a batch, with the census and the tally at its beginning.
  struct Record {
    Record(std::vector<AgentCount> counts, Tally told)
        : census(std::move(counts)), tally(std::move(told)) {}
    std::vector<AgentCount> census;
    Tally tally;
    detail::BatchRecord steps{};
  };

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
  std::uint64_t watched_ = 0;  // agents revealed at its start
  bool tells_later_ = false;   // the tally learns of the batch at its end
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
  detail::ReactingPairs<detail::PairWeight<P>> reacting_;
  double saved_ = 0;             // nanoseconds, had it jumped since it did the last time
  std::uint64_t last_look_ = 0;  // whether jumping still pays, at so much work
  std::uint64_t next_look_ = 0;
  std::uint64_t ranks_added_ = 0;  // since the last look
};

}  // namespace conclave::population
