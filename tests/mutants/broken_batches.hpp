// Simulation in batches as anyone would write it, with one state per agent: a run of interactions
// between agents that have not met anybody, then one that involves somebody who has. Each flaw is a
// mistake that real simulators have made.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "conclave/base/random.hpp"
#include "conclave/model/population.hpp"

#include "tests/support/samplers.hpp"

namespace conclave::tests::mutants {

enum class BatchFlaw : std::uint8_t {
  none,
  forgets_the_collision,            // batch follows batch
  reports_the_end_of_the_batch,     // as the time of what happened inside
  draws_with_replacement,           // an agent may be drawn twice, as it was before the batch
  forgets_null_interactions,        // its clock runs only when a state changes
  loses_rules_of_lower_initiators,  // looks the pair up with the larger state first
  ignores_new_states,               // states in which no agent started never react
  seeds_all_generators_alike,
};

template <PopulationProtocol P>
class PlainBatches {
 public:
  using State = typename P::State;

  PlainBatches(const P& protocol, AgentCount n, const StreamName& name, BatchFlaw flaw)
      : protocol_(protocol),
        flaw_(flaw),
        lengths_(stream_name(name, Purpose::graph)),
        initiators_(stream_name(name, Purpose::schedule)),
        responders_(stream_name(name, Purpose::fault)),
        choice_(stream_name(name, Purpose::transition)),
        order_(n),
        is_touched_(n, false) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    for (AgentCount agent = 0; agent < n; ++agent) {
      agents_.push_back(protocol.initial(0, agent, choice_));
      leaders_ += is_leader(agents_.back());
    }
    first_states_ = agents_;
  }

  // Until is_over() or for so many interactions; returns when it ended.
  template <class IsOver>
  std::uint64_t run(std::uint64_t limit, IsOver is_over) {
    const std::uint64_t most_meetings = 20 * limit + 100;  // where nothing reacts any more
    while (!is_over() && now_ < limit && meetings_ < most_meetings) run_batch(limit, is_over);
    return is_over() ? now_ : std::max(now_, limit);
  }

  const std::vector<State>& agents() const { return agents_; }
  AgentCount leaders() const { return leaders_; }

 private:
  StreamName stream_name(const StreamName& name, Purpose purpose) const {
    return flaw_ == BatchFlaw::seeds_all_generators_alike ? name : name.with(purpose);
  }

  template <class IsOver>
  void run_batch(std::uint64_t limit, IsOver is_over) {
    const bool stops_inside = flaw_ != BatchFlaw::reports_the_end_of_the_batch;
    const auto goes_on = [&] { return !stops_inside || (!is_over() && now_ < limit); };
    before_ = agents_;
    touched_ = 0;
    is_touched_.assign(agents_.size(), false);
    const std::uint64_t length = run_length();
    for (std::uint64_t i = 0; i < length && goes_on(); ++i) {
      const std::size_t initiator = fresh(initiators_);
      meet(initiator, fresh(responders_));
    }
    if (goes_on() && flaw_ != BatchFlaw::forgets_the_collision) collide();
  }

  // How many interactions there are before the first with an agent that has met somebody.
  std::uint64_t run_length() {
    const std::uint64_t n = agents_.size();
    std::uint64_t length = 0;
    for (std::uint64_t fresh = n; fresh >= 2; fresh -= 2, ++length) {
      if (lengths_.below64(n) >= fresh || lengths_.below64(n - 1) >= fresh - 1) break;
    }
    return length;
  }

  std::size_t fresh(Stream& stream) {
    if (flaw_ == BatchFlaw::draws_with_replacement) {
      const std::size_t agent = stream.below64(agents_.size());
      agents_[agent] = before_[agent];
      is_touched_[agent] = true;
      return agent;
    }
    const std::size_t place = touched_ + stream.below64(agents_.size() - touched_);
    std::swap(order_[touched_], order_[place]);
    is_touched_[order_[touched_]] = true;
    return order_[touched_++];
  }

  // Any two agents of whom at least one has met somebody.
  void collide() {
    for (;;) {
      const auto n = static_cast<std::uint32_t>(agents_.size());
      const OrderedPair pair = UniformPairs::next(n, initiators_);
      if (!is_touched_[pair.initiator] && !is_touched_[pair.responder]) continue;
      return meet(pair.initiator, pair.responder);
    }
  }

  void meet(std::size_t initiator, std::size_t responder) {
    ++meetings_;
    State u = agents_[initiator];
    State v = agents_[responder];
    if (is_listed(u, v)) protocol_.interact(u, v, choice_);
    const bool changes = !(u == agents_[initiator]) || !(v == agents_[responder]);
    leaders_ -= is_leader(agents_[initiator]) + is_leader(agents_[responder]);
    leaders_ += is_leader(u) + is_leader(v);
    agents_[initiator] = u;
    agents_[responder] = v;
    if (changes || flaw_ != BatchFlaw::forgets_null_interactions) ++now_;
  }

  bool is_listed(const State& u, const State& v) const {
    if (flaw_ == BatchFlaw::loses_rules_of_lower_initiators) return !comes_before(u, v);
    if (flaw_ == BatchFlaw::ignores_new_states) return is_first(u) && is_first(v);
    return true;
  }
  bool is_first(const State& s) const {
    return std::ranges::find(first_states_, s) != first_states_.end();
  }
  AgentCount is_leader(const State& s) const { return protocol_.role(s) == Role::leader ? 1 : 0; }

  P protocol_;
  BatchFlaw flaw_;
  Stream lengths_, initiators_, responders_, choice_;
  std::vector<State> agents_;
  std::vector<State> before_;        // the batch
  std::vector<State> first_states_;  // at the start
  std::vector<std::size_t> order_;   // agents, those touched in this batch first
  std::vector<bool> is_touched_;
  std::size_t touched_ = 0;
  AgentCount leaders_ = 0;
  std::uint64_t now_ = 0;
  std::uint64_t meetings_ = 0;
};

}  // namespace conclave::tests::mutants
