#include "conclave/text/condition_tally.hpp"

#include <algorithm>
#include <limits>

#include "conclave/text/condition_stability.hpp"

namespace conclave::text {
namespace {

// The value of an observable; NaN where it has none, such as a ratio to zero agents.
decltype(Observation::value) observed(const Node& observable, const Scene& scene) try {
  const Number value = evaluate(observable, scene);
  if (observable.type.kind == Type::Kind::condition) return compare(value, 0) != 0;
  const auto whole = value.small();
  if (whole && *whole >= 0) return static_cast<std::uint64_t>(*whole);
  return value.as_double();
} catch (const Mistake&) {
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

ConditionTally::ConditionTally(const Compiled& protocol)
    : protocol_(&protocol),
      steps_(protocol.counting_steps().data()),
      follows_states_(protocol.watches_silence() || protocol.counted().size() > lanes) {
  if (!follows_states_) return;
  all_counts_.resize(protocol.counted().size());
  by_state_.resize(protocol.space().size());
  place_.resize(protocol.space().size());
}

// `count` more agents in a state (fewer, modulo 2^64, if it is the negative of a number).
void ConditionTally::change(StateIndex state, AgentCount count) {
  spend_calm(std::min(count, AgentCount{0} - count));
  if (follows_states_) {
    const AgentCount before = by_state_[state];
    by_state_[state] += count;
    for (std::size_t set = 0; set < all_counts_.size(); ++set) {
      if (protocol_->counted()[set][state]) all_counts_[set] += count;
    }
    return change_presence(state, before, by_state_[state]);
  }
  for (std::size_t set = 0; set < lanes; ++set) {
    carried_[set] += (steps_[state] >> (8 * set) & 1) * count;
  }
}

// The changes of so many agents are those of half as many interactions.
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
  if (follows_states_) return u != new_u || v != new_v;
  return steps_[new_u] + steps_[new_v] != steps_[u] + steps_[v];
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
  for (const StateIndex u : present_) {
    for (const StateIndex v : present_) {
      if (!protocol_->transitions().reacts(u, v)) continue;
      const AgentCount fewer = std::min(by_state_[u], by_state_[v]);
      if (u != v || fewer >= 2) steps = std::max(steps, (fewer - (u == v ? 2 : 1)) / 2);
    }
  }
  const std::uint64_t pairs = present_.size() * present_.size();
  if (steps < pairs / 32) looks_to_skip_ = pairs / 32;
  return steps;
}

void ConditionTally::replace_states(StateIndex u, StateIndex v, StateIndex new_u,
                                    StateIndex new_v) {
  if (u == new_u && v == new_v) return;
  if (u != new_u) {
    change(u, AgentCount{0} - 1);
    change(new_u, 1);
  }
  if (v != new_v) {
    change(v, AgentCount{0} - 1);
    change(new_v, 1);
  }
}

std::uint64_t ConditionTally::reactions_with_others(StateIndex state) const {
  std::uint64_t pairs = 0;
  for (const StateIndex other : present_) {
    if (other == state) continue;
    pairs += protocol_->reacts(state, other) ? 1 : 0;
    pairs += protocol_->reacts(other, state) ? 1 : 0;
  }
  return pairs;
}

void ConditionTally::change_presence(StateIndex state, AgentCount before, AgentCount after) {
  if (!protocol_->watches_silence()) return;
  if ((before >= 2) != (after >= 2) && protocol_->reacts(state, state)) {
    active_pairs_ += after >= 2 ? 1 : std::uint64_t{0} - 1;
  }
  if ((before > 0) == (after > 0)) return;
  if (after > 0) {
    active_pairs_ += reactions_with_others(state);
    place_[state] = static_cast<std::uint32_t>(present_.size());
    present_.push_back(state);
  } else {
    present_[place_[state]] = present_.back();
    place_[present_.back()] = place_[state];
    present_.pop_back();
    active_pairs_ -= reactions_with_others(state);
  }
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
  const std::vector<AgentCount> now = counts();
  const Scene scene{.counts = now, .is_silent = is_silent(), .silence_steps = silence_steps()};
  const ConditionStability stop = stability_of(protocol_->stop(), scene);
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
}

std::vector<AgentCount> ConditionTally::counts() const {
  if (follows_states_) return all_counts_;
  ConditionTally copy = *this;
  copy.carry_over();
  return {copy.carried_.begin(), copy.carried_.end()};
}

std::vector<Observation> ConditionTally::observations() const {
  const std::vector<AgentCount> now = counts();
  const Scene scene{.counts = now, .is_silent = is_silent()};
  std::vector<Observation> all;
  for (std::size_t i = 0; i < protocol_->observables().size(); ++i) {
    all.push_back(
        {protocol_->text().observables()[i].name, observed(protocol_->observables()[i], scene)});
  }
  return all;
}

}  // namespace conclave::text
