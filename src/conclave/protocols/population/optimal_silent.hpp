// Optimal-Silent-SSR of J. Burman, H.-L. Chen, H.-P. Chen, D. Doty, T. Nowak, E. Severson, C. Xu:
// Time-Optimal Self-Stabilizing Leader Election in Population Protocols. PODC 2021 (arXiv
// 1907.06068v4; earlier versions hold other protocols), Protocols 2 to 4. Propagate-Reset is known
// from the paper behind electleader, which repeats it line by line; the rest from a formal proof
// that names the lines of Protocols 3 and 4. "line" numbers are those.
//
// An error (two equal ranks, or an agent without a rank for too long) triggers a reset of all.
// While all are dormant, of two leaders that meet one is left. Waking up, the leader takes rank 1,
// and ranks are handed out along a binary tree: rank r gives 2r and 2r + 1.
// The file is long because there are many named starts and readings.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "conclave/base/whole_numbers.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/protocol_info.hpp"
#include "conclave/model/steps.hpp"
#include "conclave/protocols/population/detail/propagate_reset.hpp"
#include "conclave/protocols/population/detail/rank_tally.hpp"

namespace conclave::protocols {

class OptimalSilent {
 public:
  enum class Duty : std::uint8_t { settled, unsettled, resetting };  // the paper's role
  // The parameter `reading`, whose meaning is in Parameters.
  enum class Reading : std::uint8_t {
    exclusive,
    fall_through,
    negative_delay,
    joins_as_follower,
    initiator_only,
  };

  // Fields that a duty does not use are 0: a role that is left is forgotten.
  struct State {
    Duty duty = Duty::settled;
    std::uint8_t children = 0;  // settled: how many it has ranked
    bool leader = false;        // resetting
    std::uint32_t number = 0;   // settled: rank; unsettled: errorcount; resetting: resetcount
    std::uint32_t delay = 0;    // resetting: delaytimer, D_max while resetcount > 0

    constexpr bool is(Duty which) const { return duty == which; }
    friend bool operator==(const State&, const State&) = default;
    static constexpr std::tuple fields{
        Field{"role", &State::duty}, Field{"children", &State::children},
        Field{"leader", &State::leader}, Field{"number", &State::number},
        Field{"delaytimer", &State::delay}};
  };

  static constexpr std::uint64_t most_size = std::uint64_t{1} << 24;  // agents are counted by rank
  static constexpr std::uint64_t most_factor = 100;
  static constexpr std::uint64_t most_constant = std::uint64_t{1} << 31;

  struct Parameters {
    std::optional<double> c_r;
    std::optional<double> c_d;
    std::optional<double> c_e;
    std::optional<std::uint64_t> r_max;
    std::optional<std::uint64_t> d_max;
    std::optional<std::uint64_t> e_max;
    Reading reading = Reading::exclusive;

    static constexpr std::tuple fields{
        Parameter{"c_R", &Parameters::c_r,
                  "R_max = ceil(c_R ln n), how far a reset spreads; 8 still works, and shows the "
                  "linear law at smaller n",
                  "60", 0, most_factor},
        Parameter{"c_D", &Parameters::c_d,
                  "D_max = ceil(c_D n), how long agents are dormant: smaller is faster, but more "
                  "resets leave two leaders; our choice, since the source says Theta(n)",
                  "8", 0, most_factor},
        Parameter{"c_E", &Parameters::c_e,
                  "E_max = ceil(c_E n), how long an agent waits for its rank: smaller finds "
                  "errors sooner, but resets rankings that would succeed; our choice, too",
                  "16", 0, most_factor},
        Parameter{"R_max", &Parameters::r_max, "instead of c_R ln n, for toy sizes",
                  "ceil(c_R ln n)", 1, most_constant},
        Parameter{"D_max", &Parameters::d_max, "instead of c_D n, for toy sizes", "ceil(c_D n)", 1,
                  most_constant},
        Parameter{"E_max", &Parameters::e_max, "instead of c_E n, for toy sizes", "ceil(c_E n)", 1,
                  most_constant},
        Parameter{"reading", &Parameters::reading,
                  "exclusive = an interaction that resets does nothing else; fall-through = it "
                  "goes on with line 5; negative-delay = line 9 of Propagate-Reset as printed, "
                  "which never stabilizes from some configurations; joins-as-follower = who joins "
                  "a reset is no leader; initiator-only = Propagate-Reset only where the initiator "
                  "is resetting",
                  "exclusive"}};
  };

  static constexpr std::array variables{
      Variable{"role", "{settled, unsettled, resetting}", "which of the following are in use"},
      Variable{"rank", "{1 ... n}", "settled: the output, rank 1 leads"},
      Variable{"children", "{0, 1, 2}", "settled: how many agents it has given a rank"},
      Variable{"errorcount", "{0 ... E_max}", "unsettled: counts down to a reset"},
      Variable{"leader", "{L, F}", "resetting: who will take rank 1"},
      Variable{"resetcount", "{0 ... R_max}", "resetting: how far the reset still spreads"},
      Variable{"delaytimer", "{0 ... D_max}", "resetting with resetcount 0: until it wakes up"},
  };
  static constexpr std::array errata{
      Erratum{"1", "Protocol 2, line 9",
              "delaytimer does not go below 0; as others print it, agents that start dormant at 0 "
              "sleep for ever (reading=negative-delay)"},
      Erratum{"2", "Protocol 3, lines 3-4",
              "two leaders become one only if both are still resetting after Propagate-Reset"},
      Erratum{"3", "Protocol 3, lines 5-18",
              "not in an interaction that ran Propagate-Reset (reading=fall-through: they are)"},
      Erratum{"4", "Protocol 2, line 2",
              "an agent that joins a reset is a leader again (reading=joins-as-follower: it is "
              "none)"},
      Erratum{"5", "Protocol 2, lines 5-11",
              "the two agents one after the other, the resetting one first, as in electleader"},
      Erratum{"6", "Protocol 2, lines 6-7",
              "the resetcount of an agent that has just joined has just become 0, too"},
      Erratum{"7", "Protocol 3, line 2",
              "whichever of the two is resetting takes the part of the first; the initiator if "
              "both are (reading=initiator-only: nothing happens where the responder alone is)"},
      Erratum{"8", "lines 3-4 after waking up",
              "two dormant leaders whose timers end together both take rank 1; a later collision "
              "resets again"},
      Erratum{"9", "constants", "R_max, D_max and E_max of 0 are refused: D_max = 0 never ends"},
  };
  static constexpr std::array steps{
      PseudocodeStep{
          "1-4",
          "one of the two is resetting: the reset spreads, waits or ends (Propagate-Reset); of two "
          "resetting agents that would lead, the responder will follow",
          "role, children, leader, number, delaytimer"},
      PseudocodeStep{"5-7", "two settled agents have the same rank: both trigger a reset",
                     "role, children, leader, number, delaytimer"},
      PseudocodeStep{"8-12",
                     "a settled agent with less than two children gives an unsettled one its rank",
                     "role, children, number"},
      PseudocodeStep{"13-15", "an unsettled agent loses patience by 1", "number"},
      PseudocodeStep{"16-18", "its patience is at an end: both trigger a reset",
                     "role, children, leader, number, delaytimer"},
  };
  static constexpr ProtocolInfo info{
      .name = "optimal-silent",
      .title = "silent ranking in linear time: resets, and ranks along a binary tree",
      .paper = "J. Burman, H.-L. Chen, H.-P. Chen, D. Doty, T. Nowak, E. Severson, C. Xu: "
               "Time-Optimal Self-Stabilizing Leader Election in Population Protocols. PODC 2021",
      .source = Source::second_hand,
      .version = "arXiv 1907.06068v4, Protocols 2 to 4, through the paper behind electleader and a "
                 "formal proof that names their lines; the factors of D_max and E_max are ours",
      .problem = Problem::ranking,
      .network = "complete graph",
      .only_there = "all pairs of agents must be able to interact",
      .convergence = "all agents are settled with different ranks, and nothing changes any more",
      .bound = "O(n) parallel time",
      .states = "3 n + E_max + 1 + 2 (R_max + D_max + 1)",
      .demo_n = 2000,
      .variables = variables,
      .observables = {},
      .errata = errata,
      .steps = steps,
  };

  // The places of `starts`.
  enum StartIndex : std::size_t {
    random,
    rank1,
    ranks_random,
    duplicate,
    unsettled,
    ghost,
    tworoots,
    clean,
    dormant_l,
    dormant_f,
    dormant_0,
    reset_all,
    triggered,
    correct,
  };
  static constexpr std::array starts{
      Start{"random", "role uniform, then every variable of it uniform in its domain"},
      Start{"rank1", "all settled with rank 1 and no children", true},
      Start{"ranks", "all settled, ranks and children uniform"},
      Start{"duplicate", "ranks 1 ... n-1 and a second rank 1, children as in the finished tree"},
      Start{"unsettled", "all unsettled, errorcount full: there is no leader", true},
      Start{"ghost", "one settled with rank 1 and two children that do not exist, rest unsettled"},
      Start{"tworoots", "two settled with rank 1 and no children, the rest unsettled"},
      Start{"clean",
            "one settled with rank 1 and no children, the rest unsettled: the ideal reset"},
      Start{"dormant-L", "all dormant leaders, delaytimer full", true},
      Start{"dormant-F", "all dormant, none a leader, delaytimer full", true},
      Start{"dormant-0", "all dormant, none a leader, delaytimer 0", true},
      Start{"reset", "all resetting leaders, resetcount full", true},
      Start{"triggered", "all ranks different, but the first two agents have been triggered"},
      Start{"correct", "all settled with different ranks, children uniform"},
  };

  static std::string objection(const Parameters& parameters, AgentCount n) {
    if (n > most_size) {
      return "n = " + std::to_string(n) +
             " is too large for optimal-silent, whose ranks are counted up to n = 2^24";
    }
    const Constants constants = constants_of(parameters, n);
    if (std::min({constants.r_max, constants.d_max, constants.e_max}) >= 1) return {};
    return "c_R, c_D and c_E must be positive";
  }

  OptimalSilent(const Parameters& parameters, AgentCount n)
      : OptimalSilent(static_cast<std::uint32_t>(n), constants_of(parameters, n),
                      parameters.reading) {}

  constexpr State initial(std::size_t start, AgentCount agent, Choice auto& choice) const {
    const auto i = static_cast<std::uint32_t>(agent);
    switch (start) {
      case rank1:
        return settled(1, 0);
      case ranks_random:
        return any_settled(choice);
      case duplicate:
        return in_finished_tree(i + 1 == n_ ? 1 : i + 1);
      case ghost:
        return i == 0 ? settled(1, 2) : waiting();
      case tworoots:
        return i < 2 ? settled(1, 0) : waiting();
      case clean:
        return i == 0 ? settled(1, 0) : waiting();
      case triggered:
        return i < 2 ? resetting(true, constants_.r_max, constants_.d_max)
                     : settled(i + 1, choice.below(3));
      case correct:
        return settled(i + 1, choice.below(3));
      default:
        return initial_alike(start, choice);
    }
  }

  constexpr State arbitrary(Choice auto& choice) const {
    const std::uint32_t duty = choice.below(3);
    if (duty == 0) return any_settled(choice);
    if (duty == 1) return {.duty = Duty::unsettled, .number = choice.below(constants_.e_max + 1)};
    const bool leader = choice.chance(1, 2);
    const std::uint32_t count = choice.below(constants_.r_max + 1);
    return resetting(leader, count,
                     count > 0 ? constants_.d_max : choice.below(constants_.d_max + 1));
  }

  // Protocol 3.
  constexpr void interact(State& a, State& b, Choice auto& choice) const {
    if (is_resetting(a) || is_resetting(b)) {
      note(choice, "1-4");
      if (is_resetting(a)) {
        detail::propagate_reset(*this, a, b);
      } else if (reading_ != Reading::initiator_only) {
        detail::propagate_reset(*this, b, a);
      }
      if (is_resetting(a) && is_resetting(b) && a.leader && b.leader) b.leader = false;
      if (reading_ != Reading::fall_through) return;
    }
    if (a.is(Duty::settled) && b.is(Duty::settled) && a.number == b.number) {
      note(choice, "5-7");
      trigger(a);
      trigger(b);
    }
    give_rank(a, b, choice);  // lines 8-12
    give_rank(b, a, choice);
    lose_patience(a, a, b, choice);  // lines 13-18
    lose_patience(b, a, b, choice);
  }

  // Trigger.
  constexpr void trigger(State& s) const {
    s = resetting(true, constants_.r_max, constants_.d_max);
  }

  // Protocol 4.
  constexpr void reset(State& s) const { s = s.leader ? settled(1, 0) : waiting(); }

  // For detail::propagate_reset.
  static constexpr bool is_resetting(const State& s) { return s.is(Duty::resetting); }
  static constexpr std::uint32_t& count(State& s) { return s.number; }
  static constexpr std::uint32_t& delay(State& s) { return s.delay; }
  constexpr void recruit(State& s) const {
    s = resetting(reading_ != Reading::joins_as_follower, 0, constants_.d_max);
  }
  constexpr std::uint32_t full_delay() const { return constants_.d_max; }
  constexpr bool sleeps_below_zero() const { return reading_ == Reading::negative_delay; }

  State zero() const { return settled(1, 0); }
  void set_role(State& s, Role role) const { s = role == Role::leader ? settled(1, 0) : waiting(); }
  constexpr Role role(const State& s) const {
    return s.is(Duty::settled) && s.number == 1 ? Role::leader : Role::follower;
  }

  Interactions state_count() const {
    return Interactions(3u) * n_ + constants_.e_max + 1u +
           Interactions(2u) * (std::uint64_t{constants_.r_max} + constants_.d_max + 1);
  }

  constexpr std::uint32_t ranks() const { return n_; }
  // The rank of a settled agent, from 0; n for all others.
  constexpr std::uint32_t place_of(const State& s) const {
    return s.is(Duty::settled) ? s.number - 1 : n_;
  }
  using Tally = detail::RankTally<OptimalSilent>;

  constexpr std::uint32_t r_max() const { return constants_.r_max; }
  constexpr std::uint32_t d_max() const { return constants_.d_max; }
  constexpr std::uint32_t e_max() const { return constants_.e_max; }

 private:
  struct Constants {
    std::uint32_t r_max;
    std::uint32_t d_max;
    std::uint32_t e_max;
  };

  static Constants constants_of(const Parameters& given, AgentCount n) {
    const auto size = static_cast<double>(n);
    return {chosen(given.r_max, given.c_r.value_or(60) * natural_logarithm(n)),
            chosen(given.d_max, given.c_d.value_or(8) * size),
            chosen(given.e_max, given.c_e.value_or(16) * size)};
  }
  static std::uint32_t chosen(std::optional<std::uint64_t> given, double derived) {
    return static_cast<std::uint32_t>(given ? *given
                                            : static_cast<std::uint64_t>(std::ceil(derived)));
  }

  // Logarithms are not constexpr, and engine gpu wants a protocol that can be.
  constexpr OptimalSilent(std::uint32_t n, const Constants& constants, Reading reading)
      : n_(n), constants_(constants), reading_(reading) {}

  static constexpr State settled(std::uint32_t rank, std::uint32_t children) {
    return {.duty = Duty::settled, .children = static_cast<std::uint8_t>(children), .number = rank};
  }
  constexpr State any_settled(Choice auto& choice) const {
    const std::uint32_t rank = 1 + choice.below(n_);
    return settled(rank, choice.below(3));
  }
  constexpr State waiting() const { return {.duty = Duty::unsettled, .number = constants_.e_max}; }
  static constexpr State resetting(bool leader, std::uint32_t count, std::uint32_t delay) {
    return {.duty = Duty::resetting, .leader = leader, .number = count, .delay = delay};
  }

  // Starts in which all agents are alike or independent.
  constexpr State initial_alike(std::size_t start, Choice auto& choice) const {
    switch (start) {
      case unsettled:
        return waiting();
      case dormant_l:
        return resetting(true, 0, constants_.d_max);
      case dormant_f:
        return resetting(false, 0, constants_.d_max);
      case dormant_0:
        return resetting(false, 0, 0);
      case reset_all:
        return resetting(true, constants_.r_max, constants_.d_max);
      default:
        return arbitrary(choice);
    }
  }

  constexpr State in_finished_tree(std::uint32_t rank) const {
    const std::uint64_t first = 2 * std::uint64_t{rank};
    return settled(rank, (first <= n_ ? 1u : 0u) + (first + 1 <= n_ ? 1u : 0u));
  }

  // Lines 9-12.
  constexpr void give_rank(State& i, State& j, Choice auto& choice) const {
    if (!i.is(Duty::settled) || !j.is(Duty::unsettled) || i.children >= 2) return;
    const std::uint64_t rank = 2 * std::uint64_t{i.number} + i.children;
    if (rank > n_) return;
    note(choice, "8-12");
    j = settled(static_cast<std::uint32_t>(rank), 0);
    ++i.children;
  }

  // Lines 14-18, for i, which is one of a and b.
  constexpr void lose_patience(State& i, State& a, State& b, Choice auto& choice) const {
    if (!i.is(Duty::unsettled)) return;
    note(choice, "13-15");
    if (i.number > 0) --i.number;
    if (i.number > 0) return;
    note(choice, "16-18");
    trigger(a);
    trigger(b);
  }

  std::uint32_t n_;
  Constants constants_;
  Reading reading_;
};
static_assert(CensusTallyOf<OptimalSilent::Tally, OptimalSilent>);

}  // namespace conclave::protocols

template <>
inline constexpr std::array<std::string_view, 5>
    conclave::names_of<conclave::protocols::OptimalSilent::Reading>{
        "exclusive", "fall-through", "negative-delay", "joins-as-follower", "initiator-only"};
