// The common part of all engines of population protocols: the protocol, its tally, the watched
// event, the streams of transitions and faults, and what faults do to agents. Engines inherit from
// it.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "conclave/base/function_ref.hpp"
#include "conclave/base/interactions.hpp"
#include "conclave/base/random.hpp"
#include "conclave/model/fault.hpp"
#include "conclave/model/oracle.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/starting_census.hpp"
#include "conclave/model/steps.hpp"
#include "conclave/model/tally.hpp"

namespace conclave::population::detail {

// Questions that an engine which works in batches has for its tally: which meetings it must be
// notified of one by one, at their time, and how far away the watched event is.

inline constexpr AgentCount never = std::numeric_limits<AgentCount>::max();

// Whether the tally's counts can differ after this meeting. A tally without this function is
// notified of every change.
template <class Tally, class State>
bool is_counted(const Tally& tally, const State& u, const State& v, const State& new_u,
                const State& new_v) {
  if constexpr (requires { tally.is_counted(u, v, new_u, new_v); }) {
    return tally.is_counted(u, v, new_u, new_v);
  } else {
    return !(u == new_u) || !(v == new_v);
  }
}

template <class Tally>
inline constexpr bool has_milestones = requires(const Tally& tally) {
  tally.milestone();
};

// The milestone that these states reach after an interaction; 0 where the tally has none.
template <class Tally, class State>
std::uint8_t milestone_of(const Tally& tally, const State& new_u, const State& new_v) {
  if constexpr (requires { tally.milestone_of(new_u, new_v); }) {
    return tally.milestone_of(new_u, new_v);
  } else {
    return 0;
  }
}

// The last milestone that was reached; 0 where the tally has none.
template <class Tally>
std::uint8_t milestone(const Tally& tally) {
  if constexpr (has_milestones<Tally>) {
    return tally.milestone();
  } else {
    return 0;
  }
}

// At least this many agents must change before the watched event can happen; 0 if the tally does
// not say, or must be notified of every change at its time anyway.
template <class Tally>
AgentCount changes_to_stop(const Tally& tally, Watch watch) {
  if constexpr (requires { tally.changes_to_stop(); }) {
    if (watch == Watch::nothing) return never;
    if (watch == Watch::convergence) return tally.changes_to_stop();
  }
  return 0;
}

// The observations of a tally. Observables that need the census are computed on demand,
// so that they cost nothing in between: O(n) for an engine that keeps an array of agents.
template <class Tally, class Engine>
std::vector<Observation> observations_of(const Tally& tally, const Engine& engine) {
  if constexpr (requires { tally.needs_census(); }) {
    if (tally.needs_census()) return tally.observations(engine.census());
  }
  return tally.observations();
}

// Notifies a tally of many agents in one state, at once if it can take that.
template <class Tally, class State>
void add_to(Tally& tally, const State& state, AgentCount count) {
  if constexpr (requires { tally.add(state, count); }) {
    tally.add(state, count);
  } else {
    for (AgentCount i = 0; i < count; ++i) tally.add(state);
  }
}

// Whether the watched event has happened, as far as this tally knows.
template <PopulationProtocol P, class Tally>
bool has_happened(Watch watch, const Tally& tally) {
  switch (watch) {
    case Watch::convergence:
      return tally.converged() || tally.hopeless();
    case Watch::violation:
      if constexpr (MeasuresHolding<P>) return tally.violated();
      return false;
    case Watch::nothing:
      return false;
  }
  return false;
}

// The state of an agent after a fault has hit it.
template <PopulationProtocol P>
typename P::State struck(const P& protocol, const Fault& fault, typename P::State state,
                         Stream& choice) {
  switch (fault.kind) {
    case FaultKind::corrupt:
      return protocol.arbitrary(choice);
    case FaultKind::zero:
      return protocol.zero();
    case FaultKind::kill_leaders:
      protocol.set_role(state, Role::follower);
      return state;
    case FaultKind::make_leaders:
      protocol.set_role(state, Role::leader);
      return state;
  }
  return state;
}

// Whether a fault may hit an agent in this state.
template <PopulationProtocol P>
bool can_hit(const P& protocol, const Fault& fault, const typename P::State& state) {
  if (fault.kind == FaultKind::kill_leaders) return protocol.role(state) == Role::leader;
  if (fault.kind == FaultKind::make_leaders) return protocol.role(state) == Role::follower;
  return true;
}

// How many of n agents a fault can hit.
inline AgentCount candidates(const Fault& fault, AgentCount n, AgentCount leaders) {
  if (fault.kind == FaultKind::kill_leaders) return leaders;
  if (fault.kind == FaultKind::make_leaders) return n - leaders;
  return n;
}

template <PopulationProtocol P>
class TallyHost {
 public:
  using State = typename P::State;
  using Tally = typename TallyFor<P>::type;
  static constexpr bool is_positional = PositionalTallyOf<Tally, P>;
  static_assert(TallyOf<Tally, P> || is_positional);

  TallyHost& operator=(const TallyHost&) = delete;

  // A copy of the protocol that the engine was built with; lives as long as the engine.
  const P& protocol() const { return protocol_; }
  AgentCount leaders() const { return tally_.leaders(); }
  bool converged() const { return tally_.converged() && is_oracle_trustworthy(); }

  // The event that ends `advance` from now on.
  void watch(Watch what) { watch_ = what; }
  const Tally& tally() const { return tally_; }

  // Takes over what the tally of another engine has observed, whose agents this one already has.
  void inherit(const Tally& other) {
    if constexpr (requires { tally_.inherit(other); }) tally_.inherit(other);
  }

  // Called at convergence: from now on, the trial ends at the first violation.
  void hold() requires MeasuresHolding<P> {
    tally_.hold();
    watch_ = Watch::violation;
  }
  bool measures_holding() const requires MeasuresHolding<P> { return protocol_.measures_holding(); }
  bool violated() const requires MeasuresHolding<P> { return tally_.violated(); }

 protected:
  TallyHost(P protocol, AgentCount n, const StreamName& name)
      : shared_(std::make_shared<const P>(std::move(protocol))),
        protocol_(*shared_),
        choice_(name.with(Purpose::transition)),
        fault_choice_(name.with(Purpose::fault)),
        tally_(empty_tally(protocol_, n)),
        oracle_(oracle_of(protocol_)) {}

  TallyHost(const TallyHost&) = default;
  ~TallyHost() = default;

  static Tally empty_tally(const P& protocol, AgentCount n) {
    if constexpr (is_positional) {
      return Tally(protocol, n);
    } else {
      return Tally(protocol);
    }
  }

  static bool is_over(Watch watch, const Tally& tally) { return has_happened<P>(watch, tally); }

  bool is_over() const { return is_over(watch_, tally_) && is_oracle_trustworthy(); }

  // The interaction of two agents, with the oracle's answer if the protocol has one.
  void interact(State& u, State& v) {
    if constexpr (AsksOracle<P>) {
      if (oracle_.denies()) return protocol_.interact_leaderless(u, v, choice_);
    }
    protocol_.interact(u, v, choice_);
  }

  // The steps that the next interaction executes if agents in these states meet: carries it out on
  // copies, of the states and of the stream.
  std::vector<std::string> steps_of(State u, State v) const {
    NotingStream choice(choice_);
    if constexpr (AsksOracle<P>) {
      if (oracle_.denies()) {
        protocol_.interact_leaderless(u, v, choice);
        return choice.lines();
      }
    }
    protocol_.interact(u, v, choice);
    return choice.lines();
  }

  // Lets the oracle see the configuration after this many interactions.
  void show_oracle(Interactions now) {
    if constexpr (AsksOracle<P>) oracle_.see(tally_.leaders() == 0, now);
  }

  bool is_oracle_trustworthy() const {
    if constexpr (AsksOracle<P>) return oracle_.is_trustworthy();
    return true;
  }

  // Takes over a tally made anew after a fault, with what the old one had observed.
  void replace_tally(Tally fresh) {
    if constexpr (requires { fresh.inherit(tally_); }) fresh.inherit(tally_);
    tally_ = std::move(fresh);
  }

  State struck(const Fault& fault, const State& state) {
    return detail::struck(protocol_, fault, state, fault_choice_);
  }
  bool can_hit(const Fault& fault, const State& state) const {
    return detail::can_hit(protocol_, fault, state);
  }
  AgentCount candidates(const Fault& fault, AgentCount n) const {
    return detail::candidates(fault, n, leaders());
  }

  // Strikes agents kept in an array behind `state_of` and `put`, all sets of that many candidates
  // equally likely, or the one that the fault names; returns how many. O(n).
  AgentCount strike_array(const Fault& fault, AgentCount n, StateOfAgent<State> state_of,
                          FunctionRef<void(AgentCount, const State&)> put) requires Corruptible<P> {
    AgentCount left = candidates(fault, n);
    const AgentCount to_hit = fault.agents_hit(n, left);
    AgentCount hit = 0;
    Tally fresh = empty_tally(protocol_, n);
    for (AgentCount agent = 0; agent < n; ++agent) {
      State state = state_of(agent);
      if (can_hit(fault, state)) {
        const bool is_hit =
            fault.agent ? agent == *fault.agent : fault_choice_.below64(left) < to_hit - hit;
        if (is_hit) {
          state = struck(fault, state);
          put(agent, state);
          ++hit;
        }
        --left;
      }
      fresh.add(state);
    }
    replace_tally(std::move(fresh));
    return hit;
  }

  std::shared_ptr<const P> shared_;  // by copies of the engine: their tallies may look at it
  const P& protocol_;
  Stream choice_;
  Stream fault_choice_;
  Tally tally_;
  [[no_unique_address]] decltype(oracle_of(std::declval<const P&>())) oracle_;
  Watch watch_ = Watch::convergence;
};

}  // namespace conclave::population::detail
