// Sudo, Nakamura, Yamauchi, Ooshita, Kakugawa, Masuzawa: Loosely-stabilizing leader election in a
// population protocol model. Theoretical Computer Science 444, 2012: the first loosely stabilizing
// one, as the paper behind ppl describes it (its Sections 1 and 3).
//
// Leaders fill the timers of whoever they meet; among followers the larger timer spreads, one less
// at each meeting; where it reaches 0, no leader has been heard of for long, and one is made. Two
// leaders that meet become one. How leaders are removed and who is made one is our completion, as
// is the length of the timers: the source says of order N.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "conclave/model/brief_words.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/protocol_info.hpp"
#include "conclave/model/steps.hpp"
#include "conclave/model/values.hpp"
#include "conclave/protocols/population/detail/timers_packing.hpp"
#include "conclave/protocols/population/detail/upper_bound.hpp"

namespace conclave::protocols {

template <class Values>
class TimersOver : public detail::TimersPacking<TimersOver<Values>> {
 public:
  using Bool = typename Values::Bool;
  template <class Integer>
  using Number = typename Values::template Number<Integer>;

  // Values of the parameters with these names; Parameters says what they mean.
  enum class Hold : std::uint8_t { no, yes };
  enum class Reading : std::uint8_t { first, both, ppl, late };

  struct State {
    Bool leader = false;
    Number<std::uint32_t> timer = 0;
    friend bool operator==(const State&, const State&) = default;
    static constexpr std::tuple fields{Field{"leader", &State::leader},
                                       Field{"timer", &State::timer}};
  };

  static constexpr std::uint64_t most_timer = (std::uint64_t{1} << 31) - 1;  // packed in 31 bits

  struct Parameters {
    std::optional<std::uint64_t> upper_bound;
    std::optional<std::uint64_t> k;
    std::optional<std::uint64_t> t_max;
    Reading reading = Reading::first;
    Hold hold = Hold::no;

    static constexpr std::tuple fields{
        Parameter{"N", &Parameters::upper_bound, "what the agents know: an upper bound of n", "n",
                  2, most_timer},
        Parameter{"k", &Parameters::k,
                  "t_max = k N; 8 is our choice, since the source says Omega(N) only", "8", 1,
                  most_timer},
        Parameter{"t_max", &Parameters::t_max, "full timer, instead of k N", "k N", 1, most_timer},
        Parameter{"reading", &Parameters::reading,
                  "how to complete the description: first = the initiator of a timeout leads; both "
                  "= both do; ppl = timers before leaders, as in ppl; late = two timers at 0 time "
                  "out, not one that gets there",
                  "first"},
        Parameter{"hold", &Parameters::hold,
                  "1: a trial goes on after convergence until some output changes; to be used with "
                  "a limit, since that takes long",
                  "0"}};

    void resolve(AgentCount n) {
      if (!upper_bound) upper_bound = n;
    }
  };

  static constexpr std::array variables{
      Variable{"leader", "{false, true}", "the output"},
      Variable{"timer", "{0 ... t_max}", "counts down since the last sign of a leader"},
  };
  static constexpr std::array errata{
      Erratum{"1", "removal of leaders",
              "of two leaders the responder resigns: the simplest rule with one leader bit, and "
              "the bound fits it; not read in any paper"},
      Erratum{"2", "who leads after a timeout", "the initiator (reading=both: both agents)"},
      Erratum{"3", "order of the rules",
              "leaders before timers (reading=ppl: timers first, which matters only where a leader "
              "has a timer of 1 or less)"},
      Erratum{"4", "when a timer times out",
              "when it reaches 0 (reading=late: when two timers at 0 interact, like t_max + 1)"},
      Erratum{"5", "t_max", "k N with k = 8; the paper's factor is not known to us"},
      Erratum{"6", "the safe set", "that of ppl without its conditions on viruses"},
  };
  static constexpr std::array steps{
      PseudocodeStep{"1", "two leaders interact: the responder resigns", "leader"},
      PseudocodeStep{"2", "one of the two leads: both fill their timers", "timer"},
      PseudocodeStep{"3", "the larger timer spreads, one less", "timer"},
      PseudocodeStep{
          "4", "the timers are at 0: the initiator becomes a leader, and both fill their timers",
          "leader, timer"},
  };
  static constexpr ProtocolInfo info{
      .name = "timers",
      .title = "loosely stabilizing by timers alone: slow to elect, and the leader stays for long",
      .paper = "Y. Sudo, J. Nakamura, Y. Yamauchi, F. Ooshita, H. Kakugawa, T. Masuzawa: "
               "Loosely-stabilizing leader election in a population protocol model. Theoretical "
               "Computer Science 444, 2012",
      .source = Source::second_hand,
      .version = "the abstract, and the timers as the paper behind ppl describes them; how leaders "
                 "are removed and the constants are ours",
      .problem = Problem::loosely_stabilizing,
      .network = "complete graph",
      .only_there = "leaders that never interact would both stay",
      .convergence = "entering the safe set S: exactly one leader, timer >= t_max/2 everywhere",
      .bound = "O(N log n) parallel time",
      .states = "2 (t_max + 1)",
      .demo_n = 4'000,
      .variables = variables,
      .observables = holding_observables,
      .errata = errata,
      .steps = steps,
  };

  // The places of `starts`.
  enum StartIndex : std::size_t {
    random,
    all_leaders,
    no_leader,
    all_zero,
    safe,
    safe_half,
    leader_low,
  };
  static constexpr std::array starts{
      Start{"random", "every variable of every agent uniform in its domain"},
      Start{"all-leaders", "all leaders, timers full", true},
      Start{"no-leader", "no leader, timers full", true},
      Start{"all-zero", "no leader, timers 0", true},
      Start{"safe", "one leader, timers full"},
      Start{"safe-half", "a corner of S: one leader, its timer full, all others at half"},
      Start{"leader-low", "one leader, all timers 1"},
  };

  static std::string objection(const Parameters& parameters, AgentCount n) {
    const std::uint64_t bound = parameters.upper_bound.value_or(n);
    if (bound < n) return detail::too_small_bound(bound, n);
    if (parameters.t_max) return {};
    const std::uint64_t k = parameters.k.value_or(usual_k);
    if (bound <= most_timer / k) return {};
    return "t_max = k N is too large: at most " + std::to_string(most_timer) + " is allowed";
  }

  constexpr TimersOver(const Parameters& parameters, AgentCount n)
      : t_max_(static_cast<std::uint32_t>(parameters.t_max.value_or(
            parameters.k.value_or(usual_k) * parameters.upper_bound.value_or(n)))),
        reading_(parameters.reading),
        hold_(parameters.hold == Hold::yes) {}
  constexpr TimersOver(Number<std::uint32_t> t_max, Reading reading)
      : t_max_(t_max), reading_(reading), hold_(false) {}

  constexpr Number<std::uint32_t> t_max() const { return t_max_; }
  constexpr bool measures_holding() const { return hold_; }
  State zero() const { return {}; }
  void set_role(State& s, Role role) const { s.leader = role == Role::leader; }
  constexpr Role role(const State& s) const { return s.leader ? Role::leader : Role::follower; }
  Interactions state_count() const { return Interactions(2u) * (std::uint64_t{t_max_} + 1); }

  constexpr State initial(std::size_t start, AgentCount agent, Choice auto& choice) const {
    const bool first = agent == 0;
    switch (start) {
      case all_leaders:
        return {.leader = true, .timer = t_max_};
      case no_leader:
        return {.timer = t_max_};
      case all_zero:
        return {};
      case safe:
        return {.leader = first, .timer = t_max_};
      case safe_half:
        return {.leader = first, .timer = first ? t_max_ : t_max_ - t_max_ / 2};
      case leader_low:
        return {.leader = first, .timer = 1};
      default:
        return arbitrary(choice);
    }
  }

  constexpr State arbitrary(Choice auto& choice) const {
    const bool leader = choice.chance(1, 2);
    return {.leader = leader, .timer = choice.below(t_max_ + 1)};
  }

  constexpr void interact(State& x, State& y, Choice auto& choice) const {
    if (reading_ == Reading::ppl) {
      count_down(x, y, choice);
      note(choice, "2", x.leader || y.leader);
      if (x.leader || y.leader) fill(x, y);
      remove_one(x, y, choice);
      return;
    }
    remove_one(x, y, choice);
    if (x.leader || y.leader) {
      note(choice, "2");
      fill(x, y);
    } else {
      count_down(x, y, choice);
    }
  }

  // Counts what decides whether the configuration is in S, and notes whether outputs change.
  class Tally {
   public:
    explicit constexpr Tally(const TimersOver& protocol) : t_max_(protocol.t_max()) {}

    constexpr void add(const State& s, AgentCount count = 1) {
      leaders_ += is_leader(s) * count;
      late_ += is_late(s) * count;
    }
    constexpr void remove(const State& s, AgentCount count) {
      leaders_ -= is_leader(s) * count;
      late_ -= is_late(s) * count;
    }
    constexpr void replace(const State& u, const State& v, const State& new_u, const State& new_v) {
      leaders_ += is_leader(new_u) + is_leader(new_v) - is_leader(u) - is_leader(v);
      late_ += is_late(new_u) + is_late(new_v) - is_late(u) - is_late(v);
      violated_ |= (u.leader != new_u.leader) | (v.leader != new_v.leader);
    }

    constexpr bool is_counted(const State& u, const State& v, const State& new_u,
                              const State& new_v) const {
      return is_noted(u, new_u) || is_noted(v, new_v);
    }
    // Each agent that changes is one leader or one late agent less at most.
    AgentCount changes_to_stop() const { return std::max(leaders_ == 0 ? 1 : leaders_ - 1, late_); }

    constexpr AgentCount leaders() const { return leaders_; }
    constexpr bool all_have_heard() const { return late_ == 0; }  // of a leader lately
    constexpr bool converged() const { return leaders_ == 1 && late_ == 0; }
    constexpr bool hopeless() const { return false; }
    std::vector<Observation> observations() const { return {}; }

    // From now on, watches for outputs that change.
    constexpr void hold() { violated_ = false; }
    constexpr bool violated() const { return violated_; }

   private:
    constexpr bool is_noted(const State& s, const State& now) const {
      return s.leader != now.leader || is_late(s) != is_late(now);
    }
    static constexpr AgentCount is_leader(const State& s) { return s.leader; }
    constexpr AgentCount is_late(const State& s) const {
      return 2 * std::uint64_t{s.timer} < t_max_;
    }

    std::uint32_t t_max_;
    bool violated_ = false;
    AgentCount leaders_ = 0;
    AgentCount late_ = 0;  // timer < t_max/2
  };

 private:
  static constexpr std::uint64_t usual_k = 8;

  static constexpr void remove_one(State& x, State& y, Choice auto& choice) {
    note(choice, "1", x.leader && y.leader);
    if (x.leader && y.leader) y.leader = false;
  }

  constexpr void fill(State& x, State& y) const { x.timer = y.timer = t_max_; }

  // The larger timer spreads, one less; at 0 there is a leader.
  constexpr void count_down(State& x, State& y, Choice auto& choice) const {
    note(choice, "3");
    const Number<std::uint32_t> larger = std::max(x.timer, y.timer);
    const bool times_out = larger == 0 || (larger == 1 && reading_ != Reading::late);
    x.timer = y.timer = larger == 0 ? Number<std::uint32_t>{0} : larger - 1;
    if (!times_out) return;
    note(choice, "4");
    x.leader = true;
    if (reading_ == Reading::both) y.leader = true;
    fill(x, y);
  }

  Number<std::uint32_t> t_max_;
  Reading reading_;
  bool hold_;
};
using Timers = TimersOver<MachineValues>;
static_assert(CensusTallyOf<Timers::Tally, Timers>);
static_assert(MeasuresHolding<Timers>);
static_assert(HasBriefWords<Timers>);

}  // namespace conclave::protocols

template <>
inline constexpr std::array<std::string_view, 2>
    conclave::names_of<conclave::protocols::Timers::Hold>{"0", "1"};
template <>
inline constexpr std::array<std::string_view, 4>
    conclave::names_of<conclave::protocols::Timers::Reading>{"first", "both", "ppl", "late"};
