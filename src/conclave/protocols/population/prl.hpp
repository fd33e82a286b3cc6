// Yokota, Sudo, Masuzawa: Time-Optimal Self-Stabilizing Leader Election on Rings in Population
// Protocols. IEICE Trans. Fundamentals E104-A(12), 2021. Algorithm 1; "line" numbers are those of
// the paper.
//
// Lines 1-5 create a leader where the distance to the nearest leader on the left seems to reach N,
// a known bound of n. Lines 6-16 eliminate: a leader fires bullets to the right, live ones with a
// shield and dummies without, and the next one only after a signal from the right has told it that
// the last one is gone. A live bullet kills a leader without a shield.
//
//   l, r    u, v      initiator and responder: left and right neighbour
//   distL   distance  what the agent believes is the distance to the nearest leader on its left
//   N       bound_    n <= N
//
// The algorithm is right as printed, its lines one after the other; errata-prl.md tells what
// is ambiguous in the text and which steps of the proofs are false. How a state is stored is told
// in detail/prl_packing.hpp, and how convergence is noticed in detail/prl_tally.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#include "conclave/base/position_set.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/protocol_info.hpp"
#include "conclave/model/steps.hpp"
#include "conclave/model/values.hpp"
#include "conclave/protocols/population/detail/prl_packing.hpp"
#include "conclave/protocols/population/detail/prl_tally.hpp"

namespace conclave::protocols {

template <class Values>
class PrlOver : public detail::PrlPacking<PrlOver<Values>> {
 public:
  using Bool = typename Values::Bool;
  template <class Integer>
  using Number = typename Values::template Number<Integer>;

  // A bullet that a leader has fired, as the paper's 0, 1 and 2.
  enum class Bullet : std::uint8_t { none, dummy, live };

  struct State {
    Number<std::uint64_t> distance = 0;
    typename Values::template Name<Bullet> bullet = Bullet::none;
    Bool leader = false;
    Bool shield = false;  // of a follower: no meaning
    Bool signal = false;

    friend bool operator==(const State&, const State&) = default;
    static constexpr std::tuple fields{
        Field{"leader", &State::leader}, Field{"bullet", &State::bullet},
        Field{"shield", &State::shield}, Field{"signal", &State::signal},
        Field{"distL", &State::distance}};
  };

  static constexpr std::uint64_t largest_bound = (std::uint64_t{1} << 59) - 1;

  struct Parameters {
    std::optional<std::uint64_t> upper_bound;

    static constexpr std::tuple fields{Parameter{"N", &Parameters::upper_bound,
                                                 "what the agents know: an upper bound of n", "n",
                                                 2, largest_bound}};

    void resolve(AgentCount n) {
      if (!upper_bound) upper_bound = n;
    }
  };

  static constexpr Topology topology = Topology::directed_ring;

  static constexpr std::array variables{
      Variable{"leader", "{0, 1}", "the output"},
      Variable{"bullet", "{0, 1, 2}", "none, dummy, live; travels to the right"},
      Variable{"shield", "{0, 1}", "of a leader: a live bullet does not kill it"},
      Variable{"signal", "{0, 1}", "travels to the left: no bullet on the way, fire the next one"},
      Variable{"distL", "{0 ... N}", "estimated distance to the nearest leader on the left"},
  };
  static constexpr std::array observables{
      Observable{"leaders_created", "times that lines 3-5 made a leader"},
      Observable{"leaders_killed", "times that line 11 made a follower"},
      Observable{"times_leaderless", "times that the last leader was killed"},
      Observable{"last_output_change",
                 "number of the last interaction that changed an output, 0 if none did; once "
                 "converged, outputs are final from then on"},
  };
  static constexpr std::array errata{
      Erratum{
          "R1", "Algorithm 1",
          "lines are executed one after the other: line 2 sees the distL of line 1, line 11 the "
          "shield of line 9; a leader that fires a dummy just when a live bullet arrives is "
          "killed and keeps its bullet"},
      Erratum{"R2", "lines 2-5",
              "a follower with a bullet and distL = N becomes a leader at its next interaction as "
              "responder, whoever its left neighbour is; only initial configurations have such"},
      Erratum{"R3", "Sect. 3.2",
              "distances do not propagate to an agent with a bullet (line 2); the paper says: to a "
              "leader"},
      Erratum{"R4", "Sect. 4.1", "Peaceful is false where there is no leader"},
      Erratum{"R5", "Definition 1",
              "more configurations are safe than S_RL; the time reported is that of entering S_RL, "
              "and last_output_change is the time from which outputs are final"},
      Erratum{
          "R6", "Lemma 11, Claim 2",
          "false for an insecure agent with a dummy bullet, which line 2 leaves alone; the lemma "
          "survives"},
      Erratum{"R7", "Lemmas 12, 13",
              "three steps of the proofs are false or printed the wrong way round; the theorem "
              "survives"},
  };
  static constexpr std::array steps{
      PseudocodeStep{"1", "the initiator leads: its distL is 0", "distL"},
      PseudocodeStep{
          "2",
          "the responder's distL is 0 if it leads; otherwise, unless it holds a bullet, one more "
          "than the initiator's, at most N",
          "distL"},
      PseudocodeStep{
          "3-5",
          "distL has reached N, so there was no leader among so many: the responder becomes one "
          "and "
          "fires a live bullet behind its shield",
          "distL, leader, bullet, shield, signal"},
      PseudocodeStep{
          "6-7",
          "the initiator leads and has got a signal: it takes it for the chance to attack, raises "
          "its shield and fires a live bullet",
          "bullet, shield, signal"},
      PseudocodeStep{
          "8-9",
          "the responder leads and has got a signal: it takes it for the duty to expose itself, "
          "lowers its shield and fires a dummy",
          "bullet, shield, signal"},
      PseudocodeStep{"10-12",
                     "the initiator's bullet reaches a leader and disappears; a live one kills a "
                     "leader without "
                     "shield",
                     "leader, bullet"},
      PseudocodeStep{
          "13-15",
          "the initiator's bullet moves on to a follower, where a bullet in its place absorbs it, "
          "and wipes out the signal there",
          "bullet, signal"},
      PseudocodeStep{
          "16",
          "signals travel against the bullets: the initiator takes over the responder's, and a "
          "leader sends a new one",
          "signal"},
  };
  static constexpr ProtocolInfo info{
      .name = "prl",
      .title = "self-stabilizing leader election on directed rings: bullets, shields, signals",
      .paper = "D. Yokota, Y. Sudo, T. Masuzawa: Time-Optimal Self-Stabilizing Leader Election on "
               "Rings in Population Protocols. IEICE Transactions on Fundamentals E104-A(12), 2021",
      .problem = Problem::self_stabilizing,
      .network = "directed ring",
      .only_there = "its bullets and signals travel around a ring in one direction",
      .convergence = "entering S_RL: one leader, all agents secure, all live bullets modest",
      .bound = "O(n N) interactions",
      .states = "24 (N + 1)",
      .demo_n = 300'000,
      .variables = variables,
      .observables = observables,
      .errata = errata,
      .steps = steps,
  };

  static constexpr std::array starts{
      Start{"random", "every variable of every agent uniform in its domain"},
      Start{"all-leaders", "leaders without bullet, shield or signal, distL 0"},
      Start{"all-leaders-shielded", "the same with shields"},
      Start{"no-leader", "another name of no-leader-distL-zero"},
      Start{"no-leader-distL-zero", "every variable of every agent 0"},
      Start{"no-leader-distL-random", "the same with distL uniform in 0 ... N"},
      Start{"all-live-bullets", "followers with live bullets, everything else 0"},
      Start{"one-leader-own-live",
            "agent 0 the only leader, unshielded, with a live bullet, everything else 0"},
      Start{"two-leaders", "agents 0 and floor(n/2) lead, distL right, everything else 0"},
      Start{"figure-3",
            "the example of Sect. 4.1: in C_PB, all agents secure, yet a leader may be created"},
      Start{"safe", "agent 0 leads with a shield, distL right, everything else 0: in S_RL"},
  };

  static std::string objection(const Parameters& parameters, AgentCount n) {
    if (!parameters.upper_bound || *parameters.upper_bound >= n) return {};
    return "N = " + std::to_string(*parameters.upper_bound) +
           " is too small for n = " + std::to_string(n) + ": the paper demands N >= n";
  }

  constexpr PrlOver(const Parameters& parameters, AgentCount n)
      : size_(n), bound_(parameters.upper_bound.value_or(n)) {}
  constexpr explicit PrlOver(Number<std::uint64_t> bound) : size_(0), bound_(bound) {}

  constexpr State initial(std::size_t start, AgentCount agent, Choice auto& choice) const {
    switch (static_cast<Origin>(start)) {
      case Origin::random:
        return arbitrary(choice);
      case Origin::all_leaders:
        return {.leader = true};
      case Origin::all_leaders_shielded:
        return {.leader = true, .shield = true};
      case Origin::no_leader:
      case Origin::no_leader_zero:
        return {};
      case Origin::no_leader_random:
        return {.distance = any_distance(choice)};
      case Origin::all_live_bullets:
        return {.bullet = Bullet::live};
      case Origin::one_leader_own_live:
        return agent == 0 ? State{.bullet = Bullet::live, .leader = true} : State{};
      case Origin::two_leaders:
        return {.distance = distance_with_two_leaders(agent), .leader = leads_of_two(agent)};
      case Origin::figure_3:
        return of_figure_3(agent);
      case Origin::safe:
        return {.distance = agent, .leader = agent == 0, .shield = agent == 0};
    }
    return {};
  }

  // Every state with the same probability.
  constexpr State arbitrary(Choice auto& choice) const {
    State s;
    s.leader = choice.below(2) == 1;
    s.bullet = static_cast<Bullet>(choice.below(3));
    s.shield = choice.below(2) == 1;
    s.signal = choice.below(2) == 1;
    s.distance = any_distance(choice);
    return s;
  }

  State zero() const { return {}; }
  void set_role(State& s, Role role) const { s.leader = role == Role::leader; }
  constexpr Role role(const State& s) const { return s.leader ? Role::leader : Role::follower; }
  Interactions state_count() const { return (Interactions(bound_) + 1u) * 24u; }
  constexpr Number<std::uint64_t> bound() const { return bound_; }

  // Algorithm 1.
  constexpr void interact(State& l, State& r, Choice auto& choice) const {
    note(choice, "1", l.leader);
    if (l.leader) l.distance = 0;
    note(choice, "2", r.leader || r.bullet == Bullet::none);
    if (r.leader) {
      r.distance = 0;
    } else if (r.bullet == Bullet::none) {
      r.distance = std::min(l.distance + 1, bound_);
    }
    if (r.distance == bound_) {  // no leader for N agents to the left
      note(choice, "3-5");
      r.leader = true;
      r.distance = 0;
      fire_live(r);
    }
    note(choice, "6-7", l.leader && l.signal);
    if (l.leader && l.signal) fire_live(l);
    note(choice, "8-9", r.leader && r.signal);
    if (r.leader && r.signal) fire_dummy(r);
    if (l.bullet != Bullet::none) {
      if (r.leader) {
        note(choice, "10-12");
        if (l.bullet == Bullet::live && !r.shield) r.leader = false;
      } else {
        note(choice, "13-15");
        if (r.bullet == Bullet::none) r.bullet = l.bullet;
        r.signal = false;
      }
      l.bullet = Bullet::none;  // lines 12, 15
    }
    note(choice, "16");
    l.signal = l.signal || r.signal || r.leader;
  }

  using Tally = detail::PrlTally<PrlOver, PositionSet>;

 private:
  enum class Origin : std::uint8_t {  // in the order of `starts`
    random,
    all_leaders,
    all_leaders_shielded,
    no_leader,
    no_leader_zero,
    no_leader_random,
    all_live_bullets,
    one_leader_own_live,
    two_leaders,
    figure_3,
    safe,
  };

  static constexpr void fire_live(State& s) {  // lines 5, 7
    s.bullet = Bullet::live;
    s.shield = true;
    s.signal = false;
  }

  static constexpr void fire_dummy(State& s) {  // line 9
    s.bullet = Bullet::dummy;
    s.shield = false;
    s.signal = false;
  }

  // Uniform on 0 ... N; a bound too large for one choice is drawn in three parts, with rejection.
  constexpr std::uint64_t any_distance(Choice auto& choice) const {
    if (bound_ < UINT32_MAX) return choice.below(static_cast<std::uint32_t>(bound_) + 1);
    for (;;) {
      const std::uint64_t high = choice.below(static_cast<std::uint32_t>(bound_ >> 32) + 1);
      const std::uint64_t middle = choice.below(1u << 16);
      const std::uint64_t distance = high << 32 | middle << 16 | choice.below(1u << 16);
      if (distance <= bound_) return distance;
    }
  }

  constexpr bool leads_of_two(AgentCount agent) const { return agent == 0 || agent == size_ / 2; }

  constexpr AgentCount distance_with_two_leaders(AgentCount agent) const {
    return agent < size_ / 2 ? agent : agent - size_ / 2;
  }

  // The second leader is about to be killed, and then its left neighbour's distL is N - 1.
  constexpr State of_figure_3(AgentCount agent) const {
    const AgentCount half = size_ / 2;
    const AgentCount to_the_right = agent < half ? half - agent : size_ - agent;
    State s{.leader = leads_of_two(agent), .shield = agent == 0};
    if (!s.leader) s.distance = bound_ - to_the_right;
    if (agent + 1 == half) s.bullet = Bullet::live;
    return s;
  }

  AgentCount size_;
  Number<std::uint64_t> bound_;
};
using Prl = PrlOver<MachineValues>;
static_assert(SelfStabilizing<Prl> && HasNullTest<Prl>);
static_assert(PositionalTallyOf<Prl::Tally, Prl>);

}  // namespace conclave::protocols
