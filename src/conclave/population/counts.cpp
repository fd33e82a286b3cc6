// The file is long because batches and jumps share one census, and go over into each other.
#include "conclave/population/counts.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "conclave/base/geometric.hpp"
#include "conclave/base/variates.hpp"

namespace conclave::population {

CountsEngine::CountsEngine(std::unique_ptr<detail::Species> species, AgentCount n,
                           const StreamName& name, const CostTable& costs)
    : CensusKeeper(std::move(species), n, name),
      costs_(costs),
      jump_scale_(species_->jump_scale()),
      name_(name),
      schedule_(name.with(Purpose::schedule)) {}

Interactions CountsEngine::advance(Interactions budget, std::uint64_t most_work,
                                   Interactions horizon) {
  const Interactions before = now();
  const Interactions end = later(budget);
  const Interactions last = later(horizon);
  const std::uint64_t pause = work_ + std::min(most_work, UINT64_MAX - work_);
  const std::uint64_t crowded =
      most_work == UINT64_MAX ? UINT64_MAX : version() + new_ranks_at_once;
  const auto has_worked = [&] { return work_ >= pause || version() >= crowded; };
  while (!has_stopped() && now() < end && !(has_worked() && stands_still())) {
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

std::vector<Observation> CountsEngine::observations() const {
  return seen_tally().observations(shown());
}

bool CountsEngine::hopeless() const {
  return seen_tally().hopeless() || (is_silent() && !seen_tally().converged());
}

bool CountsEngine::has_stopped() const {
  if (inside_) return false;  // batches end where the watched event happens
  return is_over() || (is_silent() && watch_ == Watch::convergence);
}

double CountsEngine::cost() const {
  if (!is_jumping_) return plan_.cost;
  return cost_of_jumping(reacting_part());
}

void CountsEngine::watch(Watch what) {
  if (inside_ && what != watch_) end_where_seen();
  CensusKeeper::watch(what);
}

AgentCount CountsEngine::strike(const Fault& fault) {
  if (inside_) end_where_seen();
  is_jumping_ = false;
  next_event_.reset();
  return strike_census(fault);
}

double CountsEngine::best_length() const {
  const double best = std::sqrt(cost_of_batch() * agents() / (2 * cost_of_collision()));
  const bool is_drawn_one_by_one = active().size() > most_ranks_in_tables;
  constexpr AgentCount most_one_by_one = most_revealed / 16;
  const double most = is_drawn_one_by_one ? static_cast<double>(most_one_by_one) : 1e18;
  return std::clamp(best, 1.0, most);
}

double CountsEngine::cost_of_batch(double length, double revealed) const {
  const double drawing = std::min(cost_of_drawing_ / length, cost_of_collision());
  const double colliding = std::min(1.0, (length + revealed) / agents());
  const double beginning = costs_.batch + cost_of_ranking_ + costs_.revealed * revealed;
  return beginning / length + drawing + 2 * cost_of_collision() * colliding;
}

double CountsEngine::cost_of_jumping(double reacting) const {
  return reacting * (costs_.jump + costs_.jump_per_rank * ranks());
}

CountsEngine::Plan CountsEngine::best_plan() {
  const double best = best_length();
  const AgentCount distance = species_->tally().changes_to_stop(watch_);
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

CountsEngine::Plan CountsEngine::single() const {
  const double filling = costs_.jump_per_rank * ranks();
  return {Care::single, 1, costs_.batch + filling + 2 * cost_of_collision()};
}

CountsEngine::Plan CountsEngine::cheaper(const Plan& plan, const Plan& other) {
  return plan.cost <= other.cost ? plan : other;
}

double CountsEngine::find_watched(Care care) {
  watched_ranks_.clear();
  if (care == Care::calm && !species_->has_milestones()) return 0;
  is_watched_.assign(active().size(), false);
  const auto in_pool = [&](std::uint32_t rank) {
    return is_watched_[rank] ? 0 : census_[active()[rank]];
  };
  AgentCount agents = 0;
  pairs_looked_at_ += watchable().size();
  for (const auto& pair : watchable()) {
    const bool matters =
        (care == Care::watchful && pair.is_counted) || pair.milestone > milestone();
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

void CountsEngine::run_batch(Interactions end, Interactions last) {
  const std::uint64_t before = version();
  update_ranks();
  cost_of_ranking_ = costs_.learning * 2 * ranks() * static_cast<double>(version() - before);
  plan_ = best_plan();
  const auto length = static_cast<std::uint64_t>(std::min(plan_.length, (last - now_).as_double()));
  if (end - now_ < length) begin_record();
  begin_batch();
  run_interactions(length);
  end_batch();
  if (!record_ || now_ <= end) return finish_batch();
  inside_.emplace();
  look_further(end);
}

void CountsEngine::finish_batch() {
  record_.reset();
  consider_jumping();
}

void CountsEngine::begin_record() {
  record_ = Record{census_};
  species_->copy_tally(Moment::now, Moment::beginning);
  StreamName name = name_;
  name.part = (name.part + 1) * 0x9e3779b97f4a7c15 ^ static_cast<std::uint64_t>(now_.as_wide());
  record_->steps.begin(name);
}

void CountsEngine::look_further(Interactions end) {
  if (end >= now_) {
    inside_.reset();
    return finish_batch();
  }
  const Interactions passed = end - (now_ - length_);
  inside_->time = end;
  show(static_cast<std::uint64_t>(passed.as_wide()));
}

void CountsEngine::show(std::uint64_t passed) {
  inside_->census = record_->census;
  inside_->census.resize(species_->size());
  for (const auto& [from, to, count] : record_->steps.changes(passed, length_)) {
    inside_->census[from] -= count;
    inside_->census[to] += count;
  }
  species_->copy_tally(Moment::beginning, Moment::seen);
  detail::SpeciesTally& seen = species_->tally(Moment::seen);
  if (species_->has_census_tally()) {
    notify_of_difference(seen, record_->census, inside_->census);
    return;
  }
  for (const auto& step : record_->steps.steps()) {
    if (!step.is_collision || step.number > passed) continue;
    seen.replace(step.u, step.v, step.new_u, step.new_v, watch_);
  }
}

void CountsEngine::end_where_seen() {
  now_ = inside_->time;
  census_ = inside_->census;
  species_->copy_tally(Moment::seen, Moment::now);
  look_at_tally();
  inside_.reset();
  record_.reset();
}

void CountsEngine::notify_of_difference(detail::SpeciesTally& tally,
                                        const std::vector<AgentCount>& before,
                                        const std::vector<AgentCount>& after) {
  for (SpeciesId id = 0; id < after.size(); ++id) {
    const AgentCount old = id < before.size() ? before[id] : 0;
    if (after[id] < old) tally.remove(id, old - after[id]);
    if (after[id] > old) tally.add(id, after[id] - old);
  }
}

void CountsEngine::begin_batch() {
  count_ranks();
  pool_.fill(counts_);
  revealed_.clear();
  fresh_pairs_ = collisions_ = changes_ = 0;
  notifies_later_ =
      plan_.care == Care::calm && species_->has_census_tally() && !species_->has_milestones();
  if (plan_.care == Care::single) watched_ranks_.clear();
  reveal_watched();
}

void CountsEngine::count_ranks() {
  counts_.resize(active().size());
  for (std::size_t rank = 0; rank < counts_.size(); ++rank) {
    counts_[rank] = census_[active()[rank]];
  }
}

void CountsEngine::reveal_watched() {
  for (const std::uint32_t rank : watched_ranks_) {
    revealed_.insert(revealed_.end(), pool_.take_all(rank), active()[rank]);
  }
  watched_ = revealed_.size();
}

void CountsEngine::run_interactions(std::uint64_t length) {
  const std::uint64_t pieces = pieces_of(length);
  length_ = 0;
  bool goes_on = true;
  for (std::uint64_t left = pieces; left != 0 && goes_on; --left) {
    goes_on = run_piece((length - length_) / left);
  }
  now_ += length_;
}

std::uint64_t CountsEngine::pieces_of(std::uint64_t length) const {
  const auto t = static_cast<double>(length);
  const double collisions = 2 * t * (t + static_cast<double>(watched_)) / agents();
  return 1 + static_cast<std::uint64_t>(std::sqrt(std::min(collisions, 1e4) / 2));
}

bool CountsEngine::run_piece(std::uint64_t length) {
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

Interactions CountsEngine::colliding_pairs(AgentCount touched) const {
  return Interactions(touched) * Interactions(2 * n_ - touched - 1);
}

double CountsEngine::about_colliding(AgentCount touched) const {
  const auto real = [](AgentCount count) {  // below 2^63, where this is one instruction
    return static_cast<double>(static_cast<std::int64_t>(count));
  };
  return real(touched) * real(2 * n_ - touched - 1);
}

bool CountsEngine::collide() {
  ++collisions_;
  const AgentCount m = touched();
  const AgentCount pick = schedule_.below64(2 * n_ - m - 1);  // the other agent, and its role
  const std::size_t touched = reveal(schedule_.below64(m));
  if (pick < m - 1) return interact<When::now>(touched, reveal(pick + (pick >= touched ? 1 : 0)));
  const std::size_t other = reveal_untouched();
  const bool initiates = pick < n_ - 1;
  return interact<When::now>(initiates ? touched : other, initiates ? other : touched);
}

std::size_t CountsEngine::reveal(AgentCount number) {
  const std::size_t place = revealed_.size();
  if (number < place) return static_cast<std::size_t>(number);
  --fresh_pairs_;
  reveal_untouched();
  reveal_untouched();
  interact<When::before>(place, place + 1);
  return place + ((number - place) & 1);
}

std::size_t CountsEngine::reveal_untouched() {
  revealed_.push_back(active()[pool_.take_one(schedule_)]);
  return revealed_.size() - 1;
}

template <CountsEngine::When when>
bool CountsEngine::interact(std::size_t initiator, std::size_t responder) {
  const SpeciesId u = revealed_[initiator];
  const SpeciesId v = revealed_[responder];
  const detail::Outcome outcome = species_->outcome(u, v);
  const auto [new_u, new_v] = decide(outcome, u, v);
  revealed_[initiator] = new_u;
  revealed_[responder] = new_v;
  changes_ += outcome.changes ? 1 : 0;
  if (record_) [[unlikely]] {
    record_step<when>(u, v, new_u, new_v);
  }
  return notifies_later_ || note(outcome, u, v, new_u, new_v);
}

template <CountsEngine::When when>
void CountsEngine::record_step(SpeciesId u, SpeciesId v, SpeciesId new_u, SpeciesId new_v) {
  detail::BatchRecord& record = record_->steps;
  if constexpr (when == When::now) record.add_collision({number_, u, v, new_u, new_v, true});
  if constexpr (when == When::before) {
    record.add_revealed(number_, {0, u, v, new_u, new_v, false});
  }
  if constexpr (when == When::some_time) record.fresh().add(1, {u, new_u}, {v, new_v});
}

bool CountsEngine::note(const detail::Outcome& outcome, SpeciesId u, SpeciesId v, SpeciesId new_u,
                        SpeciesId new_v) {
  const bool is_new = outcome.milestone > milestone();
  if (!is_new && !outcome.is_counted) return true;
  if (is_new) draw_fresh_pairs();
  notify_tally(u, v, new_u, new_v);
  return !is_new && !is_over();
}

void CountsEngine::draw_fresh_pairs() {
  const double all = ranks() * ranks();
  const bool must_learn = learned_version_ != version();
  const double learning = must_learn ? costs_.learning * all : 0;
  const double together = std::min(cost_of_drawing_, costs_.sample * all) + learning;
  const double one_by_one = static_cast<double>(fresh_pairs_) * cost_of_collision();
  const bool must_be_apart = plan_.care == Care::single || active().size() > most_ranks_in_tables;
  if (must_be_apart || one_by_one < together) {
    draw_one_by_one();
    cost_of_drawing_ = costs_.sample * all;
    return;
  }
  if (must_learn) learn();
  draw_together();
  cost_of_drawing_ = costs_.sample * static_cast<double>(pairing_.samples()) + learning;
}

void CountsEngine::draw_one_by_one() {
  while (fresh_pairs_ != 0) {
    const std::size_t first = revealed_.size();
    const AgentCount pairs = std::min<AgentCount>(fresh_pairs_, 16);
    for (AgentCount pair = 0; pair < pairs; ++pair) {
      const std::size_t initiator = reveal_untouched();
      species_->fetch(revealed_[initiator], revealed_[reveal_untouched()]);
    }
    fresh_pairs_ -= pairs;
    for (std::size_t next = first; next < first + 2 * pairs; next += 2) {
      interact<When::some_time>(next, next + 1);
    }
  }
}

void CountsEngine::learn() {
  learned_version_ = version();
  in_order_ = active();
  std::ranges::sort(in_order_,
                    [this](SpeciesId a, SpeciesId b) { return species_->comes_before(a, b); });
  pairing_.learn(in_order_, [this](SpeciesId u, SpeciesId v) { return species_->outcome(u, v); });
}

void CountsEngine::draw_together() {
  pool_in_order_.clear();
  for (const SpeciesId id : in_order_) pool_in_order_.push_back(pool_.count(rank_of(id)));
  pairing_.meet(pool_in_order_, pool_.total(), fresh_pairs_, schedule_, recorded_pairs());
  fresh_pairs_ = 0;
  work_ += pairing_.samples();
  for (const auto& [from, to, count] : pairing_.moves()) shift(from, to, count);
  for (const auto& meetings : pairing_.random_meetings()) apply_random(meetings);
}

void CountsEngine::shift(SpeciesId from, SpeciesId to, AgentCount count) {
  if (from == to || count == 0) return;
  changes_ += count;
  census_[from] -= count;
  count_of(to) += count;
  if (notifies_later_ || !species_->has_census_tally()) return;
  species_->tally().remove(from, count);
  species_->tally().add(to, count);
}

void CountsEngine::apply_random(const detail::Pairing::RandomMeetings& meetings) {
  const detail::Outcome outcome = species_->outcome(meetings.u, meetings.v);
  if (outcome.kind == Kind::too_many) return apply_one_by_one(meetings, outcome);
  const detail::OutcomeDistribution& distribution = species_->distribution(outcome);
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
    if (record_) record_->steps.fresh().add(count, {meetings.u, branch.u}, {meetings.v, branch.v});
  }
}

void CountsEngine::apply_one_by_one(const detail::Pairing::RandomMeetings& meetings,
                                    const detail::Outcome& outcome) {
  for (AgentCount i = 0; i < meetings.count; ++i) {
    const auto [u, v] = decide(outcome, meetings.u, meetings.v);
    shift(meetings.u, u, 1);
    shift(meetings.v, v, 1);
    if (record_) record_->steps.fresh().add(1, {meetings.u, u}, {meetings.v, v});
  }
  work_ += meetings.count;
}

void CountsEngine::end_batch() {
  draw_fresh_pairs();
  for (std::size_t rank = 0; rank < active().size(); ++rank) {
    census_[active()[rank]] += pool_.count(rank) - counts_[rank];  // modulo 2^64
  }
  census_.resize(species_->size());
  for (const SpeciesId id : revealed_) ++census_[id];
  if (notifies_later_) notify_tally_of_batch();
  look_at_tally();
  work_ += 1 + collisions_;
}

void CountsEngine::notify_tally_of_batch() {
  for (SpeciesId id = 0; id < census_.size(); ++id) {
    const std::uint32_t rank = rank_of(id);
    const AgentCount before = rank == no_rank ? 0 : counts_[rank];
    if (census_[id] < before) species_->tally().remove(id, before - census_[id]);
    if (census_[id] > before) species_->tally().add(id, census_[id] - before);
  }
}

Interactions CountsEngine::later(Interactions interactions) const {
  return interactions < Interactions::max() - now() ? now() + interactions : Interactions::max();
}

void CountsEngine::consider_jumping() {
  const auto length = static_cast<double>(length_);
  const double jumping = cost_of_jumping(static_cast<double>(changes_) / length);
  saved_ = std::max(0.0, saved_ + (plan_.cost - jumping) * length);
  if (saved_ <= costs_.learning * ranks() * ranks()) return;
  saved_ = 0;
  begin_jumping();
}

void CountsEngine::begin_jumping() {
  update_ranks();
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

void CountsEngine::count_reacting() {
  count_ranks();
  reacting_.count(counts_, [this](std::size_t u, std::size_t v) { return weight(u, v); });
}

std::uint32_t CountsEngine::weight(std::size_t u, std::size_t v) {
  if (!reacts(u, v)) return 0;
  return jump_scale_ == 1 ? 1 : species_->jump_weight(active()[u], active()[v]);
}

Interactions CountsEngine::weighted_pairs() const {
  return all_pairs() * Interactions(jump_scale_);
}

double CountsEngine::reacting_part() const {
  return reacting_.number().as_double() / weighted_pairs().as_double();
}

bool CountsEngine::reacts(std::size_t u, std::size_t v) {
  return species_->outcome(active()[u], active()[v]).changes;
}

bool CountsEngine::is_without_reactions() {
  for (std::size_t u = 0; u < active().size(); ++u) {
    for (std::size_t v = 0; v < active().size(); ++v) {
      const AgentCount needed = u == v ? 2 : 1;
      const bool can_meet = census_[active()[u]] >= needed && census_[active()[v]] != 0;
      if (can_meet && reacts(u, v)) return false;
    }
  }
  return true;
}

void CountsEngine::jump(Interactions end) {
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

bool CountsEngine::too_much_reacts() {
  pairs_looked_at_ = 0;
  const double batch = best_plan().cost;
  const double new_ranks =
      static_cast<double>(ranks_added_) / static_cast<double>(work_ - last_look_);
  const double ranking = costs_.sample * 2 * ranks() * new_ranks;          // per jump
  next_look_ = work_ + std::max<std::uint64_t>(16, pairs_looked_at_ / 4);  // it took so long
  last_look_ = work_;
  ranks_added_ = 0;
  const double part = reacting_part();
  return cost_of_jumping(part) + part * ranking > 2 * batch;
}

void CountsEngine::react() {
  const auto [initiator, responder] = reacting_.pick(schedule_);
  const SpeciesId u = active()[initiator];
  const SpeciesId v = active()[responder];
  const detail::Outcome outcome = species_->outcome(u, v);
  const auto [new_u, new_v] = decide_after_jump(outcome, u, v);
  if (new_u == u && new_v == v) return;
  note(outcome, u, v, new_u, new_v);
  --census_[u];
  --census_[v];
  ++count_of(new_u);
  ++count_of(new_v);
  const bool is_new = rank_of(new_u) == no_rank || rank_of(new_v) == no_rank;
  if (is_new && !rank_new_species()) return;
  reacting_.move_one(initiator, rank_of(new_u));
  reacting_.move_one(responder, rank_of(new_v));
  reacting_.update_number();
}

std::pair<detail::SpeciesId, detail::SpeciesId> CountsEngine::decide_after_jump(
    const detail::Outcome& outcome, SpeciesId u, SpeciesId v) {
  if (outcome.kind == Kind::certain) return {outcome.u, outcome.v};
  return species_->interact_after_jump(u, v, choice_);
}

bool CountsEngine::rank_new_species() {
  const std::size_t ranks = active().size();
  const std::uint64_t before = version();
  update_ranks();
  ranks_added_ += version() - before;
  is_jumping_ = active().size() <= most_ranks_in_tables;
  if (!is_jumping_) return false;
  if (version() - before != active().size() - ranks) {  // others were forgotten
    count_reacting();
    return false;
  }
  for (std::size_t rank = ranks; rank < active().size(); ++rank) {
    reacting_.add_rank([this](std::size_t u, std::size_t v) { return weight(u, v); });
  }
  return true;
}

}  // namespace conclave::population
