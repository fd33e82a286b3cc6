// Sudo, Ooshita, Kakugawa, Masuzawa, Datta, Larmore: Loosely-Stabilizing Leader Election with
// Polylogarithmic Convergence Time. OPODIS 2018. Algorithm 1; "line" numbers are those of the
// paper, which is right as printed (docs/explanation/errata-ppl.md).
//
// From any configuration, exactly one leader is left soon, and it stays for long, though not for
// ever. Lines 1-3 make a leader where none has been heard of for a while; lines 4-9 let leaders
// kill each other: each emits a virus now and then, which is deadly to whoever has no shield.
//
// How a state is stored, and how engines hurry over stretches in which little happens, is told in
// detail/ppl_packing.hpp. The file is long because there are many named starts and errata.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "conclave/model/brief_words.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/protocol_info.hpp"
#include "conclave/model/steps.hpp"
#include "conclave/model/values.hpp"
#include "conclave/protocols/population/detail/ppl_packing.hpp"
#include "conclave/protocols/population/detail/upper_bound.hpp"

namespace conclave::protocols {

template <class Values>
class PplOver : public detail::PplPacking<PplOver<Values>> {
 public:
  using Bool = typename Values::Bool;
  template <class Integer>
  using Number = typename Values::template Number<Integer>;

  // Values of the parameters with these names; Parameters says what they mean.
  enum class Hold : std::uint8_t { no, yes };
  enum class Watch : std::uint8_t { no, yes };

  struct State {
    Bool leader = false;
    Bool shield = false;
    Number<std::uint16_t> virus = 0;
    Number<std::uint32_t> timer_l = 0;
    Number<std::uint32_t> timer_i = 0;

    friend bool operator==(const State&, const State&) = default;
    static constexpr std::tuple fields{
        Field{"leader", &State::leader}, Field{"shield", &State::shield},
        Field{"virus", &State::virus}, Field{"timer_L", &State::timer_l},
        Field{"timer_I", &State::timer_i}};
  };

  static constexpr std::uint64_t most_size = std::uint64_t{1} << 40;
  static constexpr std::uint64_t most_timer = (std::uint64_t{1} << 24) - 2;  // packed in 24 bits
  static constexpr std::uint64_t most_virus = (std::uint64_t{1} << 14) - 2;  // packed in 14 bits

  struct Parameters {
    std::optional<std::uint64_t> upper_bound;
    std::optional<std::uint64_t> c;
    std::optional<std::uint64_t> t_max;
    std::optional<std::uint64_t> t_virus;
    std::optional<std::uint64_t> t_emit;
    Hold hold = Hold::no;
    Watch watch = Watch::no;

    static constexpr std::tuple fields{
        Parameter{"N", &Parameters::upper_bound, "what the agents know: an upper bound of n", "n",
                  2, most_size},
        Parameter{"c", &Parameters::c, "longer timers: slower, but the leader stays longer", "1", 1,
                  most_timer / 720},
        Parameter{"t_max", &Parameters::t_max, "full timer_L, for toy sizes",
                  "12 c t_virus ceil(ln N)", 1, most_timer},
        Parameter{"t_virus", &Parameters::t_virus,
                  "life of a virus, for toy sizes (one of life 1 infects nobody)", "60 ceil(ln N)",
                  1, most_virus},
        Parameter{"t_emit", &Parameters::t_emit, "full timer_I, for toy sizes",
                  "12 c t_virus ceil(ln N)", 1, most_timer},
        Parameter{"hold", &Parameters::hold,
                  "1: a trial goes on after convergence until some output changes; to be used with "
                  "a limit, since with the paper's constants that takes practically for ever",
                  "0"},
        Parameter{"watch", &Parameters::watch,
                  "1: rows and traces contain the distance to the sets of Section 4", "0"}};

    void resolve(AgentCount n) {
      if (!upper_bound) upper_bound = n;
    }
  };

  static constexpr std::array variables{
      Variable{"leader", "{false, true}", "the output"},
      Variable{"shield", "{false, true}", "whether the agent survives a virus as leader"},
      Variable{"virus", "{0 ... t_virus}", "remaining life of the virus it carries; 0: none"},
      Variable{"timer_L", "{0 ... t_max}", "counts down since the last sign of a leader"},
      Variable{"timer_I", "{0 ... t_emit}", "counts down to the agent's next virus or unshielding"},
  };
  static constexpr std::array observables{
      holding_observables[0], holding_observables[1],
      Observable{"late", "watch=1 only: agents with timer_L < t_max/2; G_half: none"},
      Observable{"infected", "watch=1 only: agents with a virus; V_clean: none"},
      Observable{"safe_leaders",
                 "watch=1 only: shielded leaders with timer_I >= t_emit/2; L_safe: some"}};
  static constexpr std::array errata{
      Erratum{"P9", "lines 1-9",
              "executed in the order printed; other orders give other expected times"},
      Erratum{"P10", "line 2",
              "a timeout makes two leaders at once: after line 1 both agents have timer_L = 0"},
      Erratum{"P11", "Section 3",
              "\"a leader always keeps timer_L = t_max\" holds from its first interaction on"},
      Erratum{"P12", "lines 4, 7",
              "a virus emitted in line 7 is not passed on in the same interaction; if both timers "
              "fire, the initiator is shielded and the responder unshielded"},
      Erratum{"P13", "lines 2, 5",
              "a leader may be made and killed within one interaction; outputs are compared after "
              "whole interactions"},
      Erratum{"P14", "Algorithm 1, constants",
              "ceil(ln N) with N, never n; \"timer >= t_max/2\" compares reals"},
      Erratum{"P16", "Section 4",
              "safe: exactly one leader, timer_L >= t_max/2 everywhere, and the leader is shielded "
              "with timer_I >= t_emit/2 or there is no virus"},
      Erratum{"P17", "Lemmas 18, 20",
              "failures of O(1/N), and those of Corollary 21, follow for N polynomial in n only; "
              "O(1/n) is enough for Lemma 22"},
  };
  static constexpr std::array steps{
      PseudocodeStep{"1", "both agents' timer_L become the larger of the two minus 1", "timer_L"},
      PseudocodeStep{"2", "timer_L is 0: no sign of a leader for long, and the agent becomes one",
                     "leader"},
      PseudocodeStep{"3", "one of the two leads: both fill their timer_L", "timer_L"},
      PseudocodeStep{"4", "both carry the virus that lives longer, and it ages by 1", "virus"},
      PseudocodeStep{"5", "a leader with a virus and without a shield resigns", "leader"},
      PseudocodeStep{"6", "both timer_I count down", "timer_I"},
      PseudocodeStep{
          "7", "the initiator leads and its timer_I is 0: it emits a virus and raises its shield",
          "virus, shield"},
      PseudocodeStep{"8", "the responder leads and its timer_I is 0: it lowers its shield",
                     "shield"},
      PseudocodeStep{"9", "a timer_I that is 0 is filled", "timer_I"},
  };
  static constexpr ProtocolInfo info{
      .name = "ppl",
      .title = "loosely stabilizing: from any configuration, one leader soon and for long",
      .paper = "Y. Sudo, F. Ooshita, H. Kakugawa, T. Masuzawa, A. K. Datta, L. L. Larmore: "
               "Loosely-Stabilizing Leader Election with Polylogarithmic Convergence Time. OPODIS "
               "2018, LIPIcs 125, 30:1-30:16",
      .problem = Problem::loosely_stabilizing,
      .network = "complete graph",
      .only_there = "its epidemics need that all pairs can interact",
      .convergence = "entering the safe set S = L_1 and G_half and (L_safe or V_clean)",
      .bound = "O(c log^3 N) parallel time",
      .states = "4 (t_max + 1)(t_virus + 1)(t_emit + 1)",
      .demo_n = 4'000,
      .variables = variables,
      .observables = observables,
      .errata = errata,
      .steps = steps,
  };

  // The places of `starts`.
  enum StartIndex : std::size_t {
    random,
    all_leaders,
    all_leaders_shielded,
    no_leader,
    all_zero,
    virus_everywhere,
    safe,
    half_timers,
    leader_timer0,
  };
  static constexpr std::array starts{
      Start{"random", "every variable of every agent uniform in its domain"},
      Start{"all-leaders", "all leaders, unshielded, timers full, no virus", true},
      Start{"all-leaders-shielded", "all leaders, shielded, timers full, no virus", true},
      Start{"no-leader", "no leader, unshielded, timers full, no virus", true},
      Start{"all-zero", "every variable 0 or false", true},
      Start{"virus-everywhere", "all leaders, unshielded, timers full, virus = t_virus", true},
      Start{"safe", "one shielded leader, timers full, no virus"},
      Start{"half-timers", "a corner of S: one shielded leader, timers at half, virus = t_virus"},
      Start{"leader-timer0",
            "one unshielded leader, timer_L = 0 everywhere, timer_I full, no virus"},
  };

  static std::string objection(const Parameters& parameters, AgentCount n) {
    const std::uint64_t bound = parameters.upper_bound.value_or(n);
    if (bound < n) return detail::too_small_bound(bound, n);
    if (bound > most_size) {
      return "n = " + std::to_string(n) + " is too large for ppl, which knows sizes up to 2^40";
    }
    const Constants constants(parameters, n);
    const std::pair<const char*, std::uint64_t> timers[]{{"t_max", constants.t_max},
                                                         {"t_emit", constants.t_emit}};
    for (const auto& [name, value] : timers) {
      if (value <= most_timer) continue;
      return std::string(name) + " = 12 c t_virus ceil(ln N) = " + std::to_string(value) +
             " is too large: at most " + std::to_string(most_timer) + " is allowed";
    }
    return {};
  }

  constexpr PplOver(const Parameters& parameters, AgentCount n)
      : hold_(parameters.hold == Hold::yes), watch_(parameters.watch == Watch::yes) {
    const Constants constants(parameters, n);
    t_virus_ = static_cast<std::uint16_t>(constants.t_virus);
    t_max_ = static_cast<std::uint32_t>(constants.t_max);
    t_emit_ = static_cast<std::uint32_t>(constants.t_emit);
  }

  constexpr PplOver(Number<std::uint32_t> t_max, Number<std::uint16_t> t_virus,
                    Number<std::uint32_t> t_emit)
      : t_max_(t_max), t_emit_(t_emit), t_virus_(t_virus), hold_(false), watch_(false) {}

  constexpr Number<std::uint16_t> t_virus() const { return t_virus_; }
  constexpr Number<std::uint32_t> t_max() const { return t_max_; }
  constexpr Number<std::uint32_t> t_emit() const { return t_emit_; }
  constexpr bool measures_holding() const { return hold_; }
  constexpr bool is_watched() const { return watch_; }
  // Without those that are not asked for.
  std::span<const Observable> observables_in_effect() const {
    return std::span<const Observable>(observables).first(watch_ ? observables.size() : 2);
  }
  State zero() const { return {}; }
  void set_role(State& s, Role role) const { s.leader = role == Role::leader; }
  constexpr Role role(const State& s) const { return s.leader ? Role::leader : Role::follower; }

  // All combinations of the declared domains.
  Interactions state_count() const {
    return Interactions(4u) * (t_max_ + 1) * (t_virus_ + 1u) * (t_emit_ + 1);
  }

  constexpr State initial(std::size_t start, AgentCount agent, Choice auto& choice) const {
    const bool first = agent == 0;
    switch (start) {
      case all_leaders:
        return full_timers({.leader = true});
      case all_leaders_shielded:
        return full_timers({.leader = true, .shield = true});
      case no_leader:
        return full_timers({});
      case all_zero:
        return {};
      case virus_everywhere:
        return full_timers({.leader = true, .virus = t_virus_});
      case safe:
        return full_timers({.leader = first, .shield = first});
      case half_timers:
        return {.leader = first,
                .shield = first,
                .virus = t_virus_,
                .timer_l = t_max_ - t_max_ / 2,
                .timer_i = t_emit_ - t_emit_ / 2};
      case leader_timer0:
        return {.leader = first, .timer_i = t_emit_};
      default:
        return arbitrary(choice);
    }
  }

  // Any state of the declared domains, each with the same probability.
  constexpr State arbitrary(Choice auto& choice) const {
    State s;
    s.leader = choice.chance(1, 2);
    s.shield = choice.chance(1, 2);
    s.virus = static_cast<std::uint16_t>(choice.below(t_virus_ + 1u));
    s.timer_l = choice.below(t_max_ + 1);
    s.timer_i = choice.below(t_emit_ + 1);
    return s;
  }

  // Algorithm 1. Conditions that the processor cannot predict are written without branches.
  constexpr void interact(State& a0, State& a1, Choice auto& choice) const {
    note(choice, "1");
    a0.timer_l = a1.timer_l = minus_one(std::max(a0.timer_l, a1.timer_l));
    note(choice, "2", a0.timer_l == 0);
    a0.leader |= a0.timer_l == 0;
    a1.leader |= a1.timer_l == 0;
    note(choice, "3", a0.leader || a1.leader);
    if (a0.leader | a1.leader) a0.timer_l = a1.timer_l = t_max_;

    note(choice, "4");
    a0.virus = a1.virus = minus_one(std::max(a0.virus, a1.virus));
    note(choice, "5", a0.virus > 0 && (is_exposed(a0) || is_exposed(a1)));
    a0.leader &= a0.shield | (a0.virus == 0);
    a1.leader &= a1.shield | (a1.virus == 0);

    note(choice, "6");
    a0.timer_i = minus_one(a0.timer_i);
    a1.timer_i = minus_one(a1.timer_i);
    if (a0.timer_i == 0 && a0.leader) {
      note(choice, "7");
      a0.virus = t_virus_;
      a0.shield = true;
    }
    note(choice, "8", a1.timer_i == 0 && a1.leader);
    if (a1.timer_i == 0 && a1.leader) a1.shield = false;
    note(choice, "9", a0.timer_i == 0 || a1.timer_i == 0);
    if (a0.timer_i == 0) a0.timer_i = t_emit_;
    if (a1.timer_i == 0) a1.timer_i = t_emit_;
  }

  // Counts what decides whether the configuration is in S, and notes whether outputs change.
  class Tally {
   public:
    explicit constexpr Tally(const PplOver& protocol)
        : t_max_(protocol.t_max()),
          t_emit_(protocol.t_emit()),
          is_watched_(protocol.is_watched()) {}

    constexpr void add(const State& s, AgentCount count = 1) {
      leaders_ += is_leader(s) * count;
      late_ += is_late(s) * count;
      infected_ += is_infected(s) * count;
      safe_leaders_ += is_safe_leader(s) * count;
    }

    constexpr void replace(const State& u, const State& v, const State& new_u, const State& new_v) {
      leaders_ += is_leader(new_u) + is_leader(new_v) - is_leader(u) - is_leader(v);
      late_ += is_late(new_u) + is_late(new_v) - is_late(u) - is_late(v);
      infected_ += is_infected(new_u) + is_infected(new_v) - is_infected(u) - is_infected(v);
      safe_leaders_ +=
          is_safe_leader(new_u) + is_safe_leader(new_v) - is_safe_leader(u) - is_safe_leader(v);
      violated_ |= (u.leader != new_u.leader) | (v.leader != new_v.leader);
    }

    constexpr void remove(const State& s, AgentCount count) {
      leaders_ -= is_leader(s) * count;
      late_ -= is_late(s) * count;
      infected_ -= is_infected(s) * count;
      safe_leaders_ -= is_safe_leader(s) * count;
    }

    constexpr bool is_counted(const State& u, const State& v, const State& new_u,
                              const State& new_v) const {
      return is_noted(u, new_u) || is_noted(v, new_v);
    }

    // Each agent that changes is one leader, late or infected agent less at most.
    AgentCount changes_to_stop() const {
      const AgentCount surplus = leaders_ == 0 ? 1 : leaders_ - 1;
      return std::max(
          {surplus, late_, safe_leaders_ == 1 ? 0 : std::min<AgentCount>(infected_, 1)});
    }

    constexpr AgentCount leaders() const { return leaders_; }
    constexpr bool all_have_heard() const { return late_ == 0; }  // of a leader lately
    constexpr bool hopeless() const { return false; }
    std::vector<Observation> observations() const {
      if (!is_watched_) return {};
      return {{observables[2].name, late_},
              {observables[3].name, infected_},
              {observables[4].name, safe_leaders_}};
    }

    // In S now.
    constexpr bool converged() const {
      return leaders_ == 1 && late_ == 0 && (safe_leaders_ == 1 || infected_ == 0);
    }

    // From now on, watches for violations: interactions after which some output differs from what
    // it is now. Up to the first one, that is every change of an output.
    constexpr void hold() { violated_ = false; }
    constexpr bool violated() const { return violated_; }

    friend bool operator==(const Tally&, const Tally&) = default;

   private:
    constexpr bool is_noted(const State& s, const State& now) const {
      return s.leader != now.leader || is_late(s) != is_late(now) ||
             is_infected(s) != is_infected(now) || is_safe_leader(s) != is_safe_leader(now);
    }
    static constexpr AgentCount is_leader(const State& s) { return s.leader; }
    static constexpr AgentCount is_infected(const State& s) { return s.virus > 0; }
    constexpr AgentCount is_late(const State& s) const { return 2 * s.timer_l < t_max_; }
    constexpr AgentCount is_safe_leader(const State& s) const {
      return s.leader & s.shield & (2 * s.timer_i >= t_emit_);
    }

    std::uint32_t t_max_;
    std::uint32_t t_emit_;
    bool is_watched_;
    bool violated_ = false;
    AgentCount leaders_ = 0;
    AgentCount late_ = 0;          // timer_L < t_max/2; G_half: none
    AgentCount infected_ = 0;      // V_clean: none
    AgentCount safe_leaders_ = 0;  // L_safe: some
  };

  // ceil(ln N), exactly: the least k with N <= e^k, and no e^k with k > 0 is an integer.
  static constexpr std::uint64_t ceil_ln(std::uint64_t number) {
    constexpr std::array<std::uint64_t, 29> floor_exp{1,
                                                      2,
                                                      7,
                                                      20,
                                                      54,
                                                      148,
                                                      403,
                                                      1096,
                                                      2980,
                                                      8103,
                                                      22026,
                                                      59874,
                                                      162754,
                                                      442413,
                                                      1202604,
                                                      3269017,
                                                      8886110,
                                                      24154952,
                                                      65659969,
                                                      178482300,
                                                      485165195,
                                                      1318815734,
                                                      3584912846,
                                                      9744803446,
                                                      26489122129,
                                                      72004899337,
                                                      195729609428,
                                                      532048240601,
                                                      1446257064291};
    static_assert(floor_exp.back() >= most_size);
    return static_cast<std::uint64_t>(std::ranges::lower_bound(floor_exp, number) -
                                      floor_exp.begin());
  }

 private:
  // The constants of Algorithm 1, before it is known that they fit.
  struct Constants {
    std::uint64_t t_virus;
    std::uint64_t t_max;
    std::uint64_t t_emit;

    constexpr Constants(const Parameters& parameters, AgentCount n) {
      const std::uint64_t log = ceil_ln(parameters.upper_bound.value_or(n));
      t_virus = parameters.t_virus.value_or(60 * log);
      const std::uint64_t derived = 12 * parameters.c.value_or(1) * t_virus * log;
      t_max = parameters.t_max.value_or(derived);
      t_emit = parameters.t_emit.value_or(derived);
    }
  };

  constexpr State full_timers(State s) const {
    s.timer_l = t_max_;
    s.timer_i = t_emit_;
    return s;
  }

  static constexpr bool is_exposed(const State& s) { return s.leader && !s.shield; }

  // max(value - 1, 0)
  template <class T>
  static constexpr T minus_one(T value) {
    return static_cast<T>(value - (value > 0));
  }

  Number<std::uint32_t> t_max_;
  Number<std::uint32_t> t_emit_;
  Number<std::uint16_t> t_virus_;
  bool hold_;
  bool watch_;
};
using Ppl = PplOver<MachineValues>;
static_assert(HasBriefWords<Ppl>);
static_assert(SelfStabilizing<Ppl>);
static_assert(TallyOf<Ppl::Tally, Ppl>);
static_assert(MeasuresHolding<Ppl>);

}  // namespace conclave::protocols

template <>
inline constexpr std::array<std::string_view, 2> conclave::names_of<conclave::protocols::Ppl::Hold>{
    "0", "1"};
template <>
inline constexpr std::array<std::string_view, 2>
    conclave::names_of<conclave::protocols::Ppl::Watch>{"0", "1"};
