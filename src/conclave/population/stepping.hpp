// The `agents` engine of protocols that own their whole configuration: draws ordered pairs of
// agents and lets them meet, one interaction after the other. Exact.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "conclave/base/interactions.hpp"
#include "conclave/base/random.hpp"
#include "conclave/model/configuration_protocol.hpp"
#include "conclave/model/steps.hpp"
#include "conclave/model/trial.hpp"
#include "conclave/population/agent_table.hpp"
#include "conclave/population/meeting_pipeline.hpp"

namespace conclave::population {

// One trial of at most 2^32 - 1 agents, from the given start.
template <ConfigurationProtocol C>
class Stepping {
 public:
  // Makes the agents, in O(n) at least; throws Interrupted if `keep_going`, unless null, says so.
  Stepping(const typename C::Parameters& parameters, AgentCount n, std::size_t start,
           const StreamName& name, const KeepGoing* keep_going = nullptr)
      : pairs_(name.with(Purpose::schedule), n),
        choice_(name.with(Purpose::transition)),
        fault_choice_(name.with(Purpose::fault)),
        start_choice_(name.with(Purpose::start)),
        configuration_(started(parameters, n, start, start_choice_, keep_going)) {}

  Stepping(const Stepping&) = delete;  // a configuration may point into itself
  Stepping& operator=(const Stepping&) = delete;

  AgentCount size() const { return configuration_.size(); }
  Interactions now() const { return now_; }
  AgentCount leaders() const { return configuration_.leaders(); }
  bool converged() const { return configuration_.converged(); }
  bool hopeless() const { return configuration_.hopeless(); }
  std::vector<Observation> observations() const { return configuration_.observations(); }
  // Moves on with every call of `advance`.
  C& configuration() { return configuration_; }
  const C& configuration() const { return configuration_; }
  // Who interacts next. Draws nothing that `advance` would not have drawn.
  NextMeeting next_meeting() {
    const Meeting next{pairs_.upcoming().front()};
    return {now_ + 1u, std::pair<AgentCount, AgentCount>(next.initiator(), next.responder())};
  }

  // The steps of the next interaction will be in `steps` once it has been simulated.
  void note_next(std::vector<std::string>& steps) { steps_ = &steps; }

  void watch(Watch what) { watch_ = what; }
  bool has_stopped() const { return watch_ == Watch::convergence && (converged() || hopeless()); }

  // Simulates up to `budget` interactions, fewer only if the watched event happens; the last one
  // simulated is then the one at which it happened.
  Interactions advance(Interactions budget) {
    const Interactions before = now_;
    while (budget > 0u && !has_stopped()) {
      const auto meetings = pairs_.upcoming();
      const std::uint64_t most = budget.as_uint64().value_or(meetings.size());
      const std::size_t used =
          meet_all(meetings.first(std::min<std::size_t>(meetings.size(), most)));
      pairs_.drop(used);
      budget -= used;
    }
    return now_ - before;
  }

  // Hits agents that the fault can hit, all sets of that many equally likely; returns how many.
  // O(n).
  AgentCount strike(const Fault& fault) {
    if constexpr (CorruptibleConfiguration<C>) return hit(fault);
    return 0;
  }

 private:
  static C started(const typename C::Parameters& parameters, AgentCount n, std::size_t start,
                   Stream& choice, const KeepGoing* keep_going) {
    if constexpr (requires { C(parameters, n, start, choice, keep_going); }) {
      return C(parameters, n, start, choice, keep_going);
    } else {
      return C(parameters, n, start, choice);
    }
  }

  AgentCount hit(const Fault& fault) requires CorruptibleConfiguration<C> {
    std::vector<AgentCount> candidates;
    for (AgentCount agent = 0; agent < size(); ++agent) {
      if (fault.agent && agent != *fault.agent) continue;
      if (can_hit(fault, configuration_.is_leader(agent))) candidates.push_back(agent);
    }
    const AgentCount wanted =
        std::min<AgentCount>(fault.agents_hit(size(), candidates.size()), candidates.size());
    AgentCount to_hit = wanted;
    for (std::size_t i = 0; i < candidates.size() && to_hit > 0; ++i) {
      if (fault_choice_.below64(candidates.size() - i) >= to_hit) continue;
      configuration_.strike(candidates[i], fault.kind, fault_choice_);
      --to_hit;
    }
    return wanted;
  }

  std::size_t meet_all(std::span<const std::uint64_t> meetings) {
    if (steps_ != nullptr) return meet_and_note(Meeting{meetings.front()});
    std::size_t used = 0;
    while (used < meetings.size()) {
      if constexpr (PassingConfiguration<C>) {
        const std::size_t passed = configuration_.pass(meetings.subspan(used));
        used += passed;
        now_ += passed;
        if (used == meetings.size()) break;
      }
      if constexpr (FetchingConfiguration<C>) {
        const std::uint64_t* const next = meetings.data() + used;
        configuration_.fetch(next[2 * fetch_ahead], next[fetch_ahead]);
      }
      const Meeting meeting{meetings[used++]};
      now_ += 1u;
      configuration_.meet(meeting.initiator(), meeting.responder(), now_, choice_);
      if (has_stopped()) break;
    }
    return used;
  }

  // A configuration cannot be copied, so that steps are noted while it changes.
  std::size_t meet_and_note(Meeting meeting) {
    NotingStream noting(choice_);
    now_ += 1u;
    configuration_.meet(meeting.initiator(), meeting.responder(), now_, noting);
    choice_ = noting.stream();
    *std::exchange(steps_, nullptr) = noting.lines();
    return 1;
  }

  static constexpr std::size_t fetch_ahead = 3;  // meetings
  static_assert(2 * fetch_ahead <= PairPipeline::lookahead);

  static bool can_hit(const Fault& fault, bool is_leader) {
    if (fault.kind == FaultKind::kill_leaders) return is_leader;
    return fault.kind != FaultKind::make_leaders || !is_leader;
  }

  PairPipeline pairs_;
  Stream choice_;
  Stream fault_choice_;
  Stream start_choice_;
  C configuration_;
  Interactions now_;
  Watch watch_ = Watch::convergence;
  std::vector<std::string>* steps_ = nullptr;  // where those of the next interaction are wanted
};

}  // namespace conclave::population
