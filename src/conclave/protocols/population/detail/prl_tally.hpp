// Whether prl has converged, kept up to date from interaction to interaction.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "conclave/base/position_set.hpp"
#include "conclave/model/population.hpp"
#include "conclave/protocols/population/detail/leader_changes.hpp"

namespace conclave::protocols::detail {

// Knows at every interaction whether the configuration is in S_RL (Sect. 4.1): exactly one leader,
// all agents secure, all live bullets modest. With one leader, d_L(i) is the number of steps from
// it to the right, so a live bullet is modest iff the leader has a shield and, up to and including
// the bullet's place, no agent has a signal and none overestimates (distL > d_L); all are iff the
// farthest is. O(log_64 n) per interaction that changes something; O(n) whenever the number of
// leaders becomes one.
//
// Sets is the kind of its sets of positions: PositionSet, or one in memory that is owned elsewhere.
template <class P, class Sets>
class PrlTally {
 public:
  using State = typename P::State;

  PrlTally(const P& protocol, AgentCount n)
      : bound_(protocol.bound()), size_(n), live_(n), signals_(n), overestimates_(n) {}

  // For devices (gpu/device_tally.hpp): the same in borrowed words, which are zero.
  using OnDevice = PrlTally<P, BorrowedPositionSet>;
  static constexpr std::size_t words(const P&, AgentCount n) { return 3 * Sets::words(n); }
  constexpr PrlTally(const P& protocol, AgentCount n, std::uint64_t* words)
      : bound_(protocol.bound()),
        size_(n),
        live_(n, part(words, n, 0)),
        signals_(n, part(words, n, 1)),
        overestimates_(n, part(words, n, 2)) {}
  // All agents are there.
  template <class View>
  constexpr void end_start(const View& view) {
    if (leaders_ == 1) judge_all(view);
    converged_ = leaders_ == 1 && insecure_ == 0 && bullets_are_modest();
  }

  constexpr void add(const State& s) {
    const AgentCount agent = added_++;
    if (s.bullet == P::Bullet::live) live_.insert(agent);
    if (s.signal) signals_.insert(agent);
    if (s.leader) {
      ++leaders_;
      leader_ = agent;
      shielded_ = s.shield;
    }
    if constexpr (std::same_as<Sets, PositionSet>) {
      remember(agent, s.distance);
      if (added_ == size_) judge_remembered();
    }
  }

  template <class View>
  constexpr void replace_at(AgentCount i, AgentCount j, const State& u, const State& v,
                            const State& new_u, const State& new_v, const View& view) {
    move(i, u, new_u);
    move(j, v, new_v);
    if (v.leader != new_v.leader) {  // the initiator's output never changes
      change_output(new_v.leader, view);
    } else if (leaders_ == 1) {
      if (new_u.leader) shielded_ = new_u.shield;
      if (new_v.leader) shielded_ = new_v.shield;
      rejudge(i, u.distance, new_u.distance);
      rejudge(j, v.distance, new_v.distance);
    }
    converged_ = leaders_ == 1 && insecure_ == 0 && bullets_are_modest();
  }

  // After a fault: what had been observed stays observed.
  void inherit(const PrlTally& before) { changes_ = before.changes_; }

  constexpr AgentCount leaders() const { return leaders_; }
  constexpr bool converged() const { return converged_; }
  constexpr bool hopeless() const { return false; }

  std::vector<Observation> observations() const { return changes_.observations(P::observables); }

 private:
  // A lane that has no trial yet has no words.
  static constexpr Borrowed<std::uint64_t> part(std::uint64_t* words, AgentCount n,
                                                std::size_t index) {
    if (words == nullptr) return {nullptr, Sets::words(n)};
    return {words + index * Sets::words(n), Sets::words(n)};
  }

  struct Estimate {
    AgentCount agent;
    std::uint64_t distance;
  };

  // While agents are added, the leader may be still to come: then an agent is at least one step
  // farther from it than from agent 0. Only what may overestimate has to be kept.
  void remember(AgentCount agent, std::uint64_t distance) {
    if (leaders_ > 1) return remembered_.clear();
    const AgentCount least = leaders_ == 0 ? agent + 1 : agent - leader_;
    if (distance > least) remembered_.push_back({agent, distance});
  }

  void judge_remembered() {
    if (leaders_ == 1) {
      for (const Estimate& estimate : remembered_) judge(estimate.agent, estimate.distance);
      converged_ = insecure_ == 0 && bullets_are_modest();
    }
    remembered_ = {};
  }

  constexpr void move(AgentCount agent, const State& before, const State& after) {
    live_.change(agent, before.bullet == P::Bullet::live, after.bullet == P::Bullet::live);
    signals_.change(agent, before.signal, after.signal);
  }

  template <class View>
  constexpr void change_output(bool created, const View& view) {
    changes_.last_output_change = view.now();
    if (created) {
      ++leaders_;
      ++changes_.created;
    } else {
      --leaders_;
      ++changes_.killed;
      if (leaders_ == 0) ++changes_.times_leaderless;
    }
    if (leaders_ == 1) judge_all(view);
  }

  // There is a new only leader.
  template <class View>
  constexpr void judge_all(const View& view) {
    leader_ = 0;
    while (!view(leader_).leader) ++leader_;
    shielded_ = view(leader_).shield;
    insecure_ = 0;
    overestimates_.clear();
    for (AgentCount agent = 0; agent < size_; ++agent) judge(agent, view(agent).distance);
  }

  constexpr void judge(AgentCount agent, std::uint64_t distance) {
    if (distance > steps_to(agent)) overestimates_.insert(agent);
    if (!is_secure(agent, distance)) ++insecure_;
  }

  constexpr void rejudge(AgentCount agent, std::uint64_t before, std::uint64_t after) {
    if (before == after) return;
    overestimates_.change(agent, before > steps_to(agent), after > steps_to(agent));
    if (!is_secure(agent, before)) --insecure_;
    if (!is_secure(agent, after)) ++insecure_;
  }

  // d_L: from the only leader to the right.
  constexpr AgentCount steps_to(AgentCount agent) const {
    return agent >= leader_ ? agent - leader_ : agent + size_ - leader_;
  }

  constexpr bool is_secure(AgentCount agent, std::uint64_t distance) const {
    if (agent == leader_) return distance == 0;
    const AgentCount steps_to_leader = size_ - steps_to(agent);  // d_R
    return distance <= bound_ - steps_to_leader;
  }

  constexpr bool bullets_are_modest() const {
    if (live_.empty()) return true;
    if (!shielded_) return false;
    const AgentCount before_leader = leader_ == 0 ? size_ - 1 : leader_ - 1;
    const AgentCount farthest_live = steps_to(*live_.previous_around(before_leader));
    return farthest_live < steps_to_first(signals_) &&
           farthest_live < steps_to_first(overestimates_);
  }

  // n if there is none.
  constexpr AgentCount steps_to_first(const Sets& set) const {
    const std::optional<AgentCount> first = set.next_around(leader_);
    return first ? steps_to(*first) : size_;
  }

  std::uint64_t bound_;
  AgentCount size_;
  AgentCount added_ = 0;
  AgentCount leaders_ = 0;
  Sets live_;
  Sets signals_;
  struct Nothing {};
  [[no_unique_address]] std::conditional_t<std::same_as<Sets, PositionSet>, std::vector<Estimate>,
                                           Nothing>
      remembered_;
  // About the only leader, while there is exactly one.
  AgentCount leader_ = 0;
  bool shielded_ = false;
  Sets overestimates_;
  AgentCount insecure_ = 0;
  bool converged_ = false;

  LeaderChanges changes_;
};

}  // namespace conclave::protocols::detail
