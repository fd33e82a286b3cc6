// Fischer, Jiang: Self-stabilizing leader election in networks of finite-state anonymous agents.
// OPODIS 2006: the protocol for rings, as Section 3.1 of the paper behind prl lists its rules.
//
// Leaders fire bullets to the right, and a bullet kills a leader that it finds without a shield.
// Shields wander to the left and stop the bullets that they meet. An oracle tells whether there is
// a leader; where there is none, followers become leaders with a bullet and a shield. Eight states,
// and nothing is known about n.
//
//   l, r   u, v   initiator and responder: left and right neighbour
//
// The source lists the rules, (a) to (g) below, without an order. The order here is ours; where the
// list leaves a choice, a parameter makes it. The file is long because of these parameters and
// because the safe set is kept up to date incrementally, in Tally.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "conclave/base/position_set.hpp"
#include "conclave/model/oracle.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/protocol_info.hpp"
#include "conclave/model/steps.hpp"
#include "conclave/protocols/population/detail/leader_changes.hpp"

namespace conclave::protocols {

class FischerJiang {
 public:
  // Values of the parameters with these names; Parameters says what they mean.
  enum class Fire : std::uint8_t { last, first };
  enum class Guard : std::uint8_t { no, yes };
  enum class Hit : std::uint8_t { stop, pass };
  enum class Create : std::uint8_t { both, initiator, responder };
  enum class Ends : std::uint8_t { no, yes };

  struct State {
    bool leader = false;
    bool bullet = false;
    bool shield = false;
    friend bool operator==(const State&, const State&) = default;
    static constexpr std::tuple fields{Field{"leader", &State::leader},
                                       Field{"bullet", &State::bullet},
                                       Field{"shield", &State::shield}};
  };

  struct Parameters {
    LeaderOracle::Kind oracle = LeaderOracle::Kind::immediate;
    std::optional<std::uint64_t> duration;
    Fire fire = Fire::last;
    Guard guard = Guard::no;
    Hit hit = Hit::stop;
    Create create = Create::both;
    Ends ends = Ends::no;

    static constexpr std::tuple fields{
        Parameter{"oracle", &Parameters::oracle,
                  "what the oracle reports: immediate = the truth; delay = no leader only after D "
                  "interactions without one; lies = no leader for the first D interactions, then "
                  "the truth; silent = a leader for the first D interactions, then the truth",
                  "immediate"},
        Parameter{"D", &Parameters::duration, "how long the oracle errs, in interactions",
                  "n, unless the oracle is immediate", 0, std::uint64_t{1} << 62},
        Parameter{"fire", &Parameters::fire,
                  "whether a leader fires after or before an arriving bullet hits it", "last"},
        Parameter{"guard", &Parameters::guard,
                  "1: a leader's own bullet stops the one that arrives, and the leader lives", "0"},
        Parameter{"hit", &Parameters::hit,
                  "a bullet that kills a leader: stop = is lost; pass = goes on", "stop"},
        Parameter{"create", &Parameters::create,
                  "which of two followers that learn of no leader becomes one", "both"},
        Parameter{"ends", &Parameters::ends,
                  "1: nothing else happens in an interaction that makes a leader", "0"}};

    void resolve(AgentCount n) {
      if (oracle != LeaderOracle::Kind::immediate && !duration) duration = n;
    }
  };

  static constexpr Topology topology = Topology::directed_ring;

  static constexpr std::array variables{
      Variable{"leader", "{0, 1}", "the output"},
      Variable{"bullet", "{0, 1}", "travels to the right and kills a leader without a shield"},
      Variable{"shield", "{0, 1}", "travels to the left and stops bullets"},
  };
  static constexpr std::array observables{
      Observable{"leaders_created", "leaders that rule (g) has made"},
      Observable{"leaders_killed", "leaders that rule (f) has made followers"},
      Observable{"times_leaderless", "times that the last leader was killed"},
      Observable{"last_output_change",
                 "number of the last interaction that changed an output, 0 if none did"},
  };
  static constexpr std::array errata{
      Erratum{"1", "order of the rules",
              "a leader fires after an arriving bullet has been handled, if it had no bullet "
              "before (fire=first, with guard=1: no leader is ever killed)"},
      Erratum{"2", "rules (d) and (f)",
              "a leader that still has a bullet is killed by another, and its bullet stays "
              "(guard=1: the bullets collide first, and the leader lives)"},
      Erratum{"3", "rule (f)", "a bullet that kills is lost (hit=pass: it goes on)"},
      Erratum{"4", "rule (g)",
              "both agents learn of no leader, and both become leaders (create=initiator, "
              "create=responder: one of them)"},
      Erratum{"5", "rule (g)",
              "the other rules follow in the same interaction (ends=1: they do not)"},
      Erratum{
          "6", "n = 2",
          "refused: two leaders would pass one shield back and forth for ever, in all readings"},
      Erratum{"7", "the safe set",
              "ours: one leader, and on the way to the left from it, its own shield included, a "
              "shield comes before a bullet"},
  };
  static constexpr std::array steps{
      PseudocodeStep{"a", "the responder leads and holds no bullet: it fires one", "bullet"},
      PseudocodeStep{"b",
                     "the initiator's bullet moves on to the responder; of two bullets one stays",
                     "bullet"},
      PseudocodeStep{"c",
                     "the responder's shield moves on to the initiator; of two shields one stays",
                     "shield"},
      PseudocodeStep{"e", "the initiator's bullet hits a shield and is gone", "bullet"},
      PseudocodeStep{
          "f", "the initiator's bullet hits a leader without a shield, which becomes a follower",
          "bullet, leader"},
      PseudocodeStep{"g",
                     "the oracle reports no leader: the agent becomes one, with a bullet and a "
                     "shield",
                     "leader, bullet, shield"},
  };
  static constexpr ProtocolInfo info{
      .name = "fischer-jiang",
      .title = "self-stabilizing on rings with 8 states and an oracle that knows whether a leader "
               "exists",
      .paper = "M. J. Fischer, H. Jiang: Self-stabilizing leader election in networks of "
               "finite-state anonymous agents. OPODIS 2006",
      .source = Source::second_hand,
      .version = "the rules as Section 3.1 of the paper behind prl lists them; their order and the "
                 "safe set are ours",
      .problem = Problem::self_stabilizing,
      .network = "directed ring",
      .only_there = "its bullets and shields travel around a ring",
      .convergence = "entering the safe set: one leader, shielded before any bullet can reach it",
      .bound = "Theta(n^3) interactions",
      .states = "8",
      .demo_n = 250,
      .smallest_n = 3,
      .variables = variables,
      .observables = observables,
      .errata = errata,
      .steps = steps,
  };

  // The places of `starts`.
  enum StartIndex : std::size_t {
    random,
    no_leader,
    all_bullets_no_leader,
    all_leaders,
    all_leaders_armed,
    all_leaders_shielded,
    one_leader_bare,
    two_leaders_bare,
    two_leaders_two_shields,
    two_leaders_all_shields,
    safe,
  };
  static constexpr std::array starts{
      Start{"random", "every variable of every agent uniform in its domain"},
      Start{"no-leader", "every variable of every agent 0", true},
      Start{"all-bullets-no-leader", "followers with bullets", true},
      Start{"all-leaders", "leaders without bullets and shields", true},
      Start{"all-leaders-armed", "leaders with bullets and shields", true},
      Start{"all-leaders-shielded", "leaders with shields", true},
      Start{"one-leader-bare", "agent 0 leads, no bullets, no shields"},
      Start{"two-leaders-bare", "agents 0 and floor(n/2) lead, no bullets, no shields"},
      Start{"two-leaders-two-shields", "agents 0 and floor(n/2) lead and have the only shields"},
      Start{"two-leaders-all-shields", "agents 0 and floor(n/2) lead, all have shields"},
      Start{"safe", "agent 0 leads and has the only shield"},
  };

  static std::string objection(const Parameters& parameters, AgentCount) {
    if (parameters.oracle != LeaderOracle::Kind::immediate || !parameters.duration) return {};
    return "D is how long an oracle errs, and an immediate one does not: give "
           "oracle=delay, lies or silent";
  }

  FischerJiang(const Parameters& parameters, AgentCount n)
      : half_(n / 2),
        oracle_(parameters.oracle, parameters.duration.value_or(n)),
        fire_(parameters.fire),
        guard_(parameters.guard),
        hit_(parameters.hit),
        create_(parameters.create),
        ends_(parameters.ends) {}

  State initial(std::size_t start, AgentCount agent, Choice auto& choice) const {
    const bool is_one_of_two = agent == 0 || agent == half_;
    switch (start) {
      case no_leader:
        return {};
      case all_bullets_no_leader:
        return {.bullet = true};
      case all_leaders:
        return {.leader = true};
      case all_leaders_armed:
        return {.leader = true, .bullet = true, .shield = true};
      case all_leaders_shielded:
        return {.leader = true, .shield = true};
      case one_leader_bare:
        return {.leader = agent == 0};
      case two_leaders_bare:
        return {.leader = is_one_of_two};
      case two_leaders_two_shields:
        return {.leader = is_one_of_two, .shield = is_one_of_two};
      case two_leaders_all_shields:
        return {.leader = is_one_of_two, .shield = true};
      case safe:
        return {.leader = agent == 0, .shield = agent == 0};
      default:
        return arbitrary(choice);
    }
  }

  State arbitrary(Choice auto& choice) const {
    State s;
    s.leader = choice.below(2) == 1;
    s.bullet = choice.below(2) == 1;
    s.shield = choice.below(2) == 1;
    return s;
  }

  State zero() const { return {}; }
  void set_role(State& s, Role role) const { s.leader = role == Role::leader; }
  Role role(const State& s) const { return s.leader ? Role::leader : Role::follower; }
  Interactions state_count() const { return 8u; }
  LeaderOracle oracle() const { return oracle_; }

  // The oracle says that there is no leader.
  void interact_leaderless(State& l, State& r, Choice auto& choice) const {
    const bool l_is_new = create_ != Create::responder && make_leader(l);
    const bool r_is_new = create_ != Create::initiator && make_leader(r);
    note(choice, "g", l_is_new || r_is_new);
    if (ends_ == Ends::no || !(l_is_new || r_is_new)) interact(l, r, choice);
  }

  // The oracle says that there is one.
  void interact(State& l, State& r, Choice auto& choice) const {
    bool fires = r.leader && !r.bullet;  // (a) is decided before anything moves
    if (fires && fire_ == Fire::first) r.bullet = true;
    if (l.bullet) {
      l.bullet = false;
      if (r.shield) {
        note(choice, "e");  // the bullet is absorbed, also by a leader's shield
      } else if (r.leader && !(r.bullet && guard_ == Guard::yes)) {
        note(choice, "f");
        r.leader = false;
        fires = false;
        if (hit_ == Hit::pass) r.bullet = true;
      } else {
        note(choice, "b");  // and (d): of two bullets one stays
        r.bullet = true;
      }
    }
    if (r.shield) {
      note(choice, "c");  // and (d): of two shields one stays
      r.shield = false;
      l.shield = true;
    }
    note(choice, "a", fires);
    if (fires) r.bullet = true;
  }

  using Packed = std::uint8_t;
  Packed pack(const State& s) const {
    return static_cast<Packed>((s.leader ? leader_bit : 0) | (s.bullet ? bullet_bit : 0) |
                               (s.shield ? shield_bit : 0));
  }
  State unpack(Packed word) const {
    return {.leader = (word & leader_bit) != 0,
            .bullet = (word & bullet_bit) != 0,
            .shield = (word & shield_bit) != 0};
  }

  // A bullet leaves l, a shield leaves r, or r fires.
  [[gnu::always_inline]] Packed may_change(Packed l, Packed r) const {
    const unsigned fires = (r & leader_bit) & ~(unsigned{r} >> 1);
    return static_cast<Packed>((l & bullet_bit) | (r & shield_bit) | fires);
  }

  class Tally;

 private:
  static constexpr unsigned leader_bit = 1;
  static constexpr unsigned bullet_bit = 2;
  static constexpr unsigned shield_bit = 4;

  static bool make_leader(State& s) {
    if (s.leader) return false;
    s = {.leader = true, .bullet = true, .shield = true};
    return true;
  }

  AgentCount half_;
  LeaderOracle oracle_;
  Fire fire_;
  Guard guard_;
  Hit hit_;
  Create create_;
  Ends ends_;
};
static_assert(SelfStabilizing<FischerJiang>);
static_assert(HasNullTest<FischerJiang> && AsksOracle<FischerJiang>);

// Knows at every interaction whether the configuration is safe: exactly one leader, and to the left
// of it, its own shield included, a shield comes before a bullet. New bullets start behind every
// shield and shields never vanish altogether, so that one sweeps away every bullet before it can
// come round. O(log_64 n) per interaction.
class FischerJiang::Tally {
 public:
  Tally(const FischerJiang&, AgentCount n) : size_(n), leading_(n), bullets_(n), shields_(n) {}

  void add(const State& s) {
    move(added_++, {}, s);
    if (added_ == size_) converged_ = is_safe();
  }

  template <class View>
  void replace_at(AgentCount i, AgentCount j, const State& u, const State& v, const State& new_u,
                  const State& new_v, const View& view) {
    const AgentCount before = leaders_;
    move(i, u, new_u);
    move(j, v, new_v);
    count_births(u, new_u);
    count_births(v, new_v);
    if (u.leader != new_u.leader || v.leader != new_v.leader) {
      changes_.last_output_change = view.now();
    }
    if (before > 0 && leaders_ == 0) ++changes_.times_leaderless;
    converged_ = is_safe();
  }

  // After a fault: what had been observed stays observed.
  void inherit(const Tally& before) { changes_ = before.changes_; }

  AgentCount leaders() const { return leaders_; }
  bool converged() const { return converged_; }
  bool hopeless() const { return false; }

  std::vector<Observation> observations() const { return changes_.observations(observables); }

 private:
  void move(AgentCount agent, const State& before, const State& after) {
    leaders_ += AgentCount{after.leader} - AgentCount{before.leader};
    leading_.change(agent, before.leader, after.leader);
    bullets_.change(agent, before.bullet, after.bullet);
    shields_.change(agent, before.shield, after.shield);
  }

  void count_births(const State& before, const State& after) {
    if (!before.leader && after.leader) ++changes_.created;
    if (before.leader && !after.leader) ++changes_.killed;
  }

  // The leader's own bullet, once round the ring, is the farthest.
  bool is_safe() const {
    if (leaders_ != 1 || shields_.empty()) return false;
    const AgentCount leader = *leading_.first_from(0);
    const AgentCount left = leader == 0 ? size_ - 1 : leader - 1;
    const AgentCount shield = *shields_.previous_around(leader);
    const AgentCount to_shield = leader >= shield ? leader - shield : leader + size_ - shield;
    if (bullets_.empty()) return true;
    const AgentCount bullet = *bullets_.previous_around(left);
    const AgentCount to_bullet = leader > bullet ? leader - bullet : leader + size_ - bullet;
    return to_shield < to_bullet;
  }

  AgentCount size_;
  AgentCount added_ = 0;
  AgentCount leaders_ = 0;
  PositionSet leading_;
  PositionSet bullets_;
  PositionSet shields_;
  bool converged_ = false;

  detail::LeaderChanges changes_;
};
static_assert(PositionalTallyOf<FischerJiang::Tally, FischerJiang>);

}  // namespace conclave::protocols

template <>
inline constexpr std::array<std::string_view, 2>
    conclave::names_of<conclave::protocols::FischerJiang::Fire>{"last", "first"};
template <>
inline constexpr std::array<std::string_view, 2>
    conclave::names_of<conclave::protocols::FischerJiang::Guard>{"0", "1"};
template <>
inline constexpr std::array<std::string_view, 2>
    conclave::names_of<conclave::protocols::FischerJiang::Hit>{"stop", "pass"};
template <>
inline constexpr std::array<std::string_view, 3>
    conclave::names_of<conclave::protocols::FischerJiang::Create>{"both", "initiator", "responder"};
template <>
inline constexpr std::array<std::string_view, 2>
    conclave::names_of<conclave::protocols::FischerJiang::Ends>{"0", "1"};
