#include "conclave/text/condition_tally.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace conclave::text {
namespace {

constexpr std::size_t known_words = 512;
constexpr StateIndex no_state = ~StateIndex{0};  // may be one, but then its word is looked up again

// The value of an observable; NaN where it has none, such as a ratio to zero agents.
decltype(Observation::value) observed_value(const Node& observable, const Scene& scene) try {
  const Number value = evaluate(observable, scene);
  if (observable.type.kind == Type::Kind::condition) return compare(value, 0) != 0;
  const auto whole = value.small();
  if (whole && *whole >= 0) return static_cast<std::uint64_t>(*whole);
  return value.as_double();
} catch (const Mistake&) {
  return std::numeric_limits<double>::quiet_NaN();
} catch (const NumberError&) {
  return std::numeric_limits<double>::quiet_NaN();
}

using CensusView = std::span<const std::pair<StateIndex, AgentCount>>;

// Put together over a census.
Number gathered_over(const Aggregate& aggregate, CensusView census, const Compiled& protocol) {
  std::optional<Number> result;
  for (const auto& [state, count] : census) {
    const Number value = protocol.value_of(aggregate, state);
    if (aggregate.kind == Aggregate::Kind::sum) {
      const Number part = value * Number::from_whole(static_cast<Number::Whole>(count));
      result = result ? *result + part : part;
      continue;
    }
    const bool is_least = aggregate.kind == Aggregate::Kind::least;
    const int order = result ? compare(value, *result) : 0;
    if (!result || (is_least ? order < 0 : order > 0)) result = value;
  }
  return result.value_or(Number(0));
}

bool is_silent_census(CensusView census, const Compiled& protocol) {
  for (const auto& [u, count] : census) {
    for (const auto& [v, others] : census) {
      if ((u != v || count >= 2) && protocol.reacts(u, v)) return false;
    }
  }
  return true;
}

// The values of the first sets and aggregates, for conditions about a population.
class Totals {
 public:
  Totals(const Compiled& protocol, CensusView census, std::size_t sets, std::size_t aggregates)
      : protocol_(protocol), census_(census), counts_(sets) {
    for (const auto& [state, count] : census) {
      for (std::size_t set = 0; set < sets; ++set) {
        if (protocol.is_in_set(set, state)) counts_[set] += count;
      }
    }
    for (std::size_t i = 0; i < aggregates; ++i) {
      gathered_.push_back(gathered_over(protocol.aggregates()[i], census, protocol));
    }
  }

  // Lives as long as this.
  Scene scene(bool asks_silence) const {
    return {.counts = counts_,
            .aggregates = gathered_,
            .is_silent = asks_silence && is_silent_census(census_, protocol_)};
  }

 private:
  const Compiled& protocol_;
  CensusView census_;
  std::vector<AgentCount> counts_;
  std::vector<Number> gathered_;
};

}  // namespace

ConditionTally::ConditionTally(const Compiled& protocol)
    : protocol_(&protocol),
      steps_(protocol.counting_steps()),
      is_plain_(!protocol.follows_states() && steps_ != nullptr),
      watched_bits_(protocol.follows_states() ? ~StateIndex{0} : protocol.counted_bits()) {
  if (steps_ == nullptr) known_words_.assign(known_words, {no_state, 0});
  if (!protocol.follows_states()) return;
  all_counts_.resize(protocol.decisive_sets());
  gathered_.resize(protocol.decisive_aggregates());
  presence_ = Presence(protocol.space());
}

std::uint64_t ConditionTally::word_of_packed(StateIndex state) const {
  const StateIndex bits = state & watched_bits_;
  auto& known = known_words_[(bits * 0x9e3779b97f4a7c15u) >> 32 & (known_words - 1)];
  if (known.first != bits || bits == no_state) known = {bits, protocol_->counting_word(state)};
  return known.second;
}

// `count` more agents in a state (fewer, modulo 2^64, if it is the negative of a number).
void ConditionTally::change(StateIndex state, AgentCount count) {
  spend_calm(std::min(count, AgentCount{0} - count));
  if (protocol_->follows_states()) return follow(state, count);
  for (std::size_t set = 0; set < lanes; ++set) {
    carried_[set] += (word_of(state) >> (8 * set) & 1) * count;
  }
}

void ConditionTally::follow(StateIndex state, AgentCount count) try {
  for (std::size_t set = 0; set < all_counts_.size(); ++set) {
    if (protocol_->is_in_set(set, state)) all_counts_[set] += count;
  }
  for (std::size_t i = 0; i < gathered_.size(); ++i) {
    const Aggregate& aggregate = protocol_->aggregates()[i];
    const Number value = protocol_->value_of(aggregate, state);
    if (aggregate.kind == Aggregate::Kind::sum) {
      const auto agents = static_cast<std::int64_t>(count);
      gathered_[i].sum = gathered_[i].sum + value * Number(agents);
      continue;
    }
    const auto entry = gathered_[i].values.try_emplace(value, 0).first;
    entry->second += count;
    if (entry->second == 0) gathered_[i].values.erase(entry);
  }
  presence_.change(state, count);
  is_silent_ = false;
} catch (const NumberError& error) {
  protocol_->text().object({protocol_->stop().place, error.what()});
}

// The changes of this many agents are those of half as many interactions.
void ConditionTally::spend_calm(AgentCount agents) {
  const AgentCount interactions = agents / 2 + agents % 2;
  if (interactions <= calm_) {
    calm_ -= interactions;
  } else {
    status_ = Status::stale;
    patience_ = calm_ = 0;
  }
}

AgentCount ConditionTally::changes_to_stop() const {
  settled();
  constexpr std::uint64_t many = ~std::uint64_t{0} / 4;
  std::uint64_t steps = std::min(calm_, many) + patience_;
  if (steps < stable_steps_ / 2) {  // much has changed since it was looked at
    decide();
    steps = std::min(calm_, many);
    calm_ -= std::min(calm_, patience_);
  }
  return 2 * steps + 1;
}

bool ConditionTally::is_counted(StateIndex u, StateIndex v, StateIndex new_u,
                                StateIndex new_v) const {
  if (protocol_->follows_states()) return u != new_u || v != new_v;
  return word_of(new_u) + word_of(new_v) != word_of(u) + word_of(v);
}

void ConditionTally::replace_others(StateIndex u, StateIndex v, StateIndex new_u,
                                    StateIndex new_v) {
  if (!protocol_->follows_states()) {
    return absorb(word_of(new_u) + word_of(new_v) - word_of(u) - word_of(v));
  }
  if (u != new_u) {
    change(u, AgentCount{0} - 1);
    change(new_u, 1);
  }
  if (v != new_v) {
    change(v, AgentCount{0} - 1);
    change(new_v, 1);
  }
  changed_ = {new_u, new_v};
}

bool ConditionTally::is_witness(const Pair& pair) const {
  const AgentCount needed = pair.u == pair.v ? 2 : 1;
  return presence_.count(pair.u) >= needed && presence_.count(pair.v) >= needed &&
         protocol_->reacts(pair.u, pair.v);
}

bool ConditionTally::is_silent() const {
  if (!is_silent_) is_silent_ = !is_witness(witness_) && !finds_witness();
  return is_silent_;
}

bool ConditionTally::finds_witness_beside(StateIndex state) const {
  for (const StateIndex other : presence_.present()) {
    for (const Pair pair : {Pair{state, other}, Pair{other, state}}) {
      if (!is_witness(pair)) continue;
      witness_ = pair;
      return true;
    }
  }
  return false;
}

// Among the agents that interacted last, then among agents in the same state, then among all.
bool ConditionTally::finds_witness() const {
  for (const Pair pair : {Pair{changed_[0], changed_[0]}, Pair{changed_[1], changed_[1]},
                          Pair{changed_[0], changed_[1]}, Pair{changed_[1], changed_[0]}}) {
    if (!is_witness(pair)) continue;
    witness_ = pair;
    return true;
  }
  for (const StateIndex state : presence_.present()) {
    if (!is_witness({state, state})) continue;
    witness_ = {state, state};
    return true;
  }
  return std::ranges::any_of(presence_.present(),
                             [this](StateIndex state) { return finds_witness_beside(state); });
}

// Two states that react with each other and have many agents keep the population from silence. To
// look for them takes as long as some interactions; where it finds too few of these, it is not
// worth doing the next times.
std::uint64_t ConditionTally::silence_steps() const {
  if (is_silent()) return ~std::uint64_t{0};
  if (!protocol_->transitions().has_table()) return 0;
  if (looks_to_skip_ != 0) {
    --looks_to_skip_;
    return 0;
  }
  std::uint64_t steps = 0;
  for (const StateIndex u : presence_.present()) {
    for (const StateIndex v : presence_.present()) {
      if (!protocol_->transitions().reacts(u, v)) continue;
      const AgentCount fewer = std::min(presence_.count(u), presence_.count(v));
      if (u != v || fewer >= 2) steps = std::max(steps, (fewer - (u == v ? 2 : 1)) / 2);
    }
  }
  const std::uint64_t pairs = presence_.present().size() * presence_.present().size();
  if (steps < pairs / 32) looks_to_skip_ = pairs / 32;
  return steps;
}

void ConditionTally::carry_over() {
  for (std::size_t set = 0; set < lanes; ++set) {
    carried_[set] += (recent_ >> (8 * set) & 0xff) - 0x80;
  }
  recent_ = zeros;
}

void ConditionTally::take(std::uint64_t change) {
  recent_ += change;
  carry_over();
  if (calm_ > 0) {
    --calm_;
  } else {
    decide();
  }
  grant_patience();
}

void ConditionTally::grant_patience() {
  carry_over();
  patience_ = std::min(calm_, most_patience);
  calm_ -= patience_;
}

void ConditionTally::decide() const try {
  const std::vector<AgentCount> now = decisive_counts();
  const std::vector<Number> gathered = decisive_aggregates();
  const bool asks_silence = protocol_->watches_silence();
  const Scene scene{.counts = now,
                    .aggregates = gathered,
                    .is_silent = asks_silence && is_silent(),
                    .silence_steps = asks_silence ? silence_steps() : 0};
  const Node& wanted = is_holding_ ? protocol_->hold() : protocol_->stop();
  const ConditionStability stop = stability_of(wanted, scene);
  calm_ = stop.steps;
  status_ = stop.holds ? Status::converged : Status::open;
  if (protocol_->fail()) {
    const ConditionStability fail = stability_of(*protocol_->fail(), scene);
    calm_ = std::min(calm_, fail.steps);
    if (!stop.holds && fail.holds) status_ = Status::failed;
  }
  stable_steps_ = calm_;
} catch (const Mistake& mistake) {
  protocol_->text().object(mistake);
} catch (const NumberError& error) {
  protocol_->text().object({protocol_->stop().place, error.what()});
}

std::array<AgentCount, ConditionTally::lanes> ConditionTally::lane_counts() const {
  if (protocol_->follows_states()) return {all_counts_[0]};
  std::array<AgentCount, lanes> counts = carried_;
  for (std::size_t set = 0; set < lanes; ++set) {
    counts[set] += (recent_ >> (8 * set) & 0xff) - 0x80;
  }
  return counts;
}

std::vector<AgentCount> ConditionTally::decisive_counts() const {
  if (protocol_->follows_states()) return all_counts_;
  const auto counts = lane_counts();
  return {counts.begin(), counts.end()};
}

std::vector<Number> ConditionTally::decisive_aggregates() const {
  std::vector<Number> all;
  for (std::size_t i = 0; i < gathered_.size(); ++i) {
    const auto& values = gathered_[i].values;
    switch (protocol_->aggregates()[i].kind) {
      case Aggregate::Kind::sum:
        all.push_back(gathered_[i].sum);
        break;
      case Aggregate::Kind::least:
        all.push_back(values.empty() ? Number(0) : values.begin()->first);
        break;
      case Aggregate::Kind::largest:
        all.push_back(values.empty() ? Number(0) : values.rbegin()->first);
    }
  }
  return all;
}

std::vector<Observation> ConditionTally::observed(const Compiled& protocol, const Scene& scene) {
  std::vector<Observation> all;
  for (std::size_t i = 0; i < protocol.observables().size(); ++i) {
    all.push_back(
        {protocol.text().observables()[i].name, observed_value(protocol.observables()[i], scene)});
  }
  return all;
}

std::vector<Observation> ConditionTally::observations_of(const Compiled& protocol,
                                                         std::span<const AgentCount> counts) {
  return observed(protocol, {.counts = counts});
}

std::vector<Observation> ConditionTally::observations() const {
  if (protocol_->follows_states()) {
    States census;
    for (const StateIndex state : presence_.present()) {
      census.emplace_back(state, presence_.count(state));
    }
    return observations(census);
  }
  if (needs_census()) {
    std::vector<Observation> all;
    for (const auto& each : protocol_->text().observables()) {
      all.push_back({each.name, std::numeric_limits<double>::quiet_NaN()});
    }
    return all;
  }
  const std::vector<AgentCount> counts = decisive_counts();
  return observed(*protocol_, {.counts = counts});
}

std::vector<Observation> ConditionTally::observations(const States& census) const try {
  const Totals totals(*protocol_, census, protocol_->observed_sets(),
                      protocol_->observed_aggregates());
  return observed(*protocol_, totals.scene(protocol_->observes_silence()));
} catch (const NumberError& error) {
  protocol_->text().object({protocol_->observables()[0].place, error.what()});
}

bool holds_in(const Compiled& protocol, const Node& condition, CensusView census) try {
  const Totals totals(protocol, census, protocol.counted().size(), protocol.aggregates().size());
  return holds(condition, totals.scene(true));
} catch (const Mistake& mistake) {
  protocol.text().object(mistake);
} catch (const NumberError& error) {
  protocol.text().object({condition.place, error.what()});
}

}  // namespace conclave::text
