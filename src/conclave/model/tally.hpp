// The tally of protocols that have converged as soon as exactly one leader is left: where no
// interaction makes a leader, and the last one never resigns. O(1) per interaction.
#pragma once

#include <cstdint>
#include <vector>

#include "conclave/model/population.hpp"

namespace conclave {

template <class P>
class LeaderTally {
 public:
  using State = typename P::State;

  // The protocol must outlive it. No agents are counted yet.
  explicit constexpr LeaderTally(const P& protocol) : protocol_(&protocol) {}

  // Agents that come in, are replaced by an interaction, or leave. Only their roles matter.
  constexpr void add(const State& state, AgentCount count = 1) {
    leaders_ += one_if_leader(state) * count;
  }

  constexpr void replace(const State& u, const State& v, const State& new_u, const State& new_v) {
    leaders_ += one_if_leader(new_u) + one_if_leader(new_v);
    leaders_ -= one_if_leader(u) + one_if_leader(v);
  }

  constexpr void remove(const State& state, AgentCount count) {
    leaders_ -= one_if_leader(state) * count;
  }

  // Whether the number of leaders may change: some role does.
  constexpr bool is_counted(const State& u, const State& v, const State& new_u,
                            const State& new_v) const {
    return one_if_leader(u) != one_if_leader(new_u) || one_if_leader(v) != one_if_leader(new_v);
  }
  // Each agent that changes is one leader less at most.
  AgentCount changes_to_stop() const { return leaders_ - 1; }

  // Converged with one leader; without one it never will be, since none is made.
  constexpr AgentCount leaders() const { return leaders_; }
  constexpr bool converged() const { return leaders_ == 1; }
  constexpr bool hopeless() const { return leaders_ == 0; }
  std::vector<Observation> observations() const { return {}; }

 private:
  constexpr AgentCount one_if_leader(const State& state) const {
    return protocol_->role(state) == Role::leader ? 1 : 0;
  }

  const P* protocol_;
  AgentCount leaders_ = 0;
};

// The tally a protocol names, or the leader count.
template <class P>
struct TallyFor {
  using type = LeaderTally<P>;
};
template <class P>
  requires requires { typename P::Tally; }
struct TallyFor<P> {
  using type = typename P::Tally;
};

}  // namespace conclave
