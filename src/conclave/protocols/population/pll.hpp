// Sudo, Ooshita, Izumi, Kakugawa, Masuzawa: Time-Optimal Leader Election in Population Protocols.
// IEEE TPDS 31(11), 2020. Algorithms 1 to 5; "line" numbers are those of the paper.
//
// Lines 1-6 make every agent a candidate (A) or a timer (B). The timers' colours divide the run
// into three epochs: in the first the leaders play a lottery (QuickElimination), in the second they
// compare random nonces (Tournament), and the third eliminates whoever is left (BackUp).
//
// Some of the paper's variables need no memory: `tick` lives within one interaction (line 7),
// `init` equals `epoch` after every interaction, and count, level_Q, rand and level_B are each
// defined for one group of agents only (Table 3), so they share one field.
//
// The part that it shares with the symmetric variant (pll_sym.hpp) is in detail/pll_common.hpp.
//
// Two lines cannot be right as printed (errata-pll.md); `reading=printed` runs them anyway.
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

#include "conclave/model/population.hpp"
#include "conclave/model/steps.hpp"
#include "conclave/model/values.hpp"
#include "conclave/protocols/population/detail/pll_common.hpp"
#include "conclave/protocols/population/detail/pll_names.hpp"

namespace conclave::protocols {

template <class Values>
class PllOver {
 public:
  // The paper's X, A and B: undecided, candidates, timers.
  enum class Status : std::uint8_t { x, a, b };
  using Reading = detail::PllReading;
  using Parameters = detail::PllParameters;
  using Constants = detail::PllConstants<Values>;
  using Bool = typename Values::Bool;
  template <class Integer>
  using Number = typename Values::template Number<Integer>;

  struct State {
    Bool leader = true;
    typename Values::template Name<Status> status = Status::x;
    Number<std::uint8_t> epoch = 1;  // 1, 2, 3; as printed also 4, which stands for all later ones
    Number<std::uint8_t> color = 0;
    Bool done = false;  // A in epoch 1; true for every A later on, false for X and B
    Number<std::uint16_t> variable = 0;  // count of B; level_Q, rand, level_B of A in epoch 1, 2, 3

    // The paper's names of the variable; which one it is depends on status and epoch.
    constexpr auto& count() { return variable; }
    constexpr auto& level_q() { return variable; }
    constexpr auto& rand() { return variable; }
    constexpr auto& level_b() { return variable; }

    // The last epoch initialized. Only a corrupted X can be in a later one.
    constexpr Number<std::uint8_t> init() const { return is_x() ? Number<std::uint8_t>{1} : epoch; }

    constexpr bool is_x() const { return status == Status::x; }
    constexpr bool is_a() const { return status == Status::a; }
    constexpr bool is_b() const { return status == Status::b; }

    friend bool operator==(const State&, const State&) = default;
    static constexpr std::tuple fields{
        Field{"leader", &State::leader}, Field{"status", &State::status},
        Field{"epoch", &State::epoch},   Field{"color", &State::color},
        Field{"done", &State::done},     Field{"variable", &State::variable}};
  };

  static constexpr std::array variables{
      Variable{"leader", "{false, true}", "the output; initially true"},
      Variable{"status", "{X, A, B}", "X until the first interaction, A candidate, B timer"},
      Variable{"epoch", "{1, 2, 3}", "which module the agent executes"},
      Variable{"color", "{0, 1, 2}", "the phase of the synchronization"},
      Variable{"count", "{0 ... c_max - 1}", "of B: interactions since the last change of color"},
      Variable{"level_Q", "{0 ... c_max}", "of A in epoch 1: heads before the first tail"},
      Variable{"done", "{false, true}", "of A in epoch 1: has seen its first tail"},
      Variable{"rand", "{1 ... 2^(k+1) - 1}", "of A in epoch 2: the nonce, built bit by bit"},
      Variable{"level_B", "{0 ... c_max}", "of A in epoch 3: heads among the ticks"},
  };
  static constexpr std::array errata{
      Erratum{"L1", "Algorithm 1, line 9",
              "printed max(epoch+1, 3); must be min: with max nobody plays the Tournament and the "
              "second tick freezes all leaders"},
      Erratum{"L2", "Algorithm 4, line 46",
              "printed: both agents need rand >= 2^k, which of the followers only those have that "
              "have lost by line 47, so nonces hardly spread; must be demanded of leaders only"},
      Erratum{
          "L3", "lines 1-3, 35-36",
          "the interaction X,X itself gives the new leader its first head; harmless, as printed"},
      Erratum{"L4", "lines 3, 24", "a new timer counts the interaction of its birth; as printed"},
      Erratum{"L7", "Table 3", "an agent in status X is a leader; as printed"},
      Erratum{
          "L12", "Lemma 9",
          "the Chernoff bound gives n^-0.92 for 6 n lg n steps, not O(1/n); 9 n ln n repair it"},
      Erratum{"L13", "Lemma 13",
              "not exactly half of the leaders that flip with a leader survive: one that ticks as "
              "initiator with v_l does, and v_l resigns; the lemma holds"},
      Erratum{"L14", "Lemma 1", "printed 2 ceil(n'/n) t; must be 2 ceil(n/n') t, as in its proof"},
  };
  static constexpr std::array steps{
      PseudocodeStep{
          "1-3",
          "two new agents (X): the initiator becomes a candidate (A), the responder a timer "
          "(B) and a follower",
          "status, leader"},
      PseudocodeStep{"4-5", detail::late_agent_text, "status, done, leader"},
      detail::synchronization_steps[0],
      detail::synchronization_steps[1],
      detail::synchronization_steps[2],
      PseudocodeStep{"11-14", detail::epoch_entry_text, "level_Q, rand, level_B, done"},
      detail::quick_elimination_step,
      detail::tournament_step,
      PseudocodeStep{"20-21", "both are in epoch 3: BackUp (lines 50-57)"},
      detail::synchronization_steps[3],
      detail::synchronization_steps[4],
      detail::synchronization_steps[5],
      PseudocodeStep{"35-36",
                     "QuickElimination: a leader that is still playing initiates with a follower: "
                     "head, and its level_Q grows",
                     "level_Q"},
      PseudocodeStep{"35, 37", "QuickElimination: it responds instead: tail, and it is done",
                     "done"},
      PseudocodeStep{"39-41", detail::larger_level_text, "leader, level_Q"},
      PseudocodeStep{
          "43-44",
          "Tournament: a leader with a follower appends a bit to its nonce: 0 as initiator, "
          "1 as responder",
          "rand"},
      PseudocodeStep{"46-48", detail::larger_nonce_text, "leader, rand"},
      PseudocodeStep{"50-51",
                     "BackUp: the initiator leads and has ticked: head, and its level_B grows",
                     "level_B"},
      PseudocodeStep{
          "53-55",
          "BackUp: of two candidates, the one with the smaller level_B takes the larger and "
          "follows",
          "leader, level_B"},
      PseudocodeStep{"57", "BackUp: two leaders are left over: the responder resigns", "leader"},
  };
  static constexpr ProtocolInfo info{
      .name = "pll",
      .title = "time-optimal leader election: lottery, tournament, backup",
      .paper = "Y. Sudo, F. Ooshita, T. Izumi, H. Kakugawa, T. Masuzawa: Time-Optimal Leader "
               "Election in Population Protocols. IEEE Transactions on Parallel and Distributed "
               "Systems 31(11), 2020",
      .network = "complete graph",
      .only_there = "its epidemics need that all pairs can interact",
      .convergence = "stabilization: exactly one leader is left (it stays for ever)",
      .bound = "O(log n) parallel time",
      .states = "14 c_max + 7 + 3 * 2^k reachable",
      .demo_n = 10'000'000,
      .variables = variables,
      .observables = detail::pll_observables,
      .errata = errata,
      .steps = steps,
  };
  static constexpr std::array starts{Start{"clean", "every agent in status X (Table 3)", true}};

  static std::string objection(const Parameters& parameters, AgentCount n) {
    return parameters.objection(n);
  }

  constexpr PllOver(const Parameters& parameters, AgentCount n) : constants_(parameters, n) {}
  // For code that has the constants as symbols (prove).
  constexpr explicit PllOver(const Constants& constants) : constants_(constants) {}

  constexpr State initial(std::size_t, AgentCount, Choice auto&) const { return {}; }

  // Every variable uniform in its domain, as far as the agent's group has it: an agent in status X
  // is a leader and a timer is none, for a leader needs the variables of A.
  constexpr State arbitrary(Choice auto& choice) const {
    State s;
    s.status = static_cast<Status>(choice.below(3));
    s.leader = s.is_x() || (s.is_a() && choice.chance(1, 2));
    s.epoch = static_cast<std::uint8_t>(1 + choice.below(3));
    s.color = static_cast<std::uint8_t>(choice.below(3));
    s.done = s.is_a() && (s.epoch > 1 || choice.chance(1, 2));
    if (s.is_a()) s.variable = constants_.arbitrary_variable_of_a(s.epoch, choice);
    if (s.is_b()) s.variable = static_cast<std::uint16_t>(choice.below(constants_.c_max));
    return s;
  }

  // A candidate that follows, everything else 0.
  State zero() const { return {.leader = false, .status = Status::a}; }

  // A timer that is made a leader becomes a candidate, and so does a new agent that is made a
  // follower: the other groups have no choice.
  void set_role(State& s, Role role) const {
    s.leader = role == Role::leader;
    if (s.is_a()) return;
    s.status = Status::a;
    s.done = s.epoch > 1 || !s.leader;
    s.variable = s.epoch == 2 ? 1 : 0;
  }

  constexpr Role role(const State& s) const { return s.leader ? Role::leader : Role::follower; }
  constexpr Reading reading() const { return constants_.reading; }

  // States by name, in files and in tables.
  static constexpr std::array<detail::PllWord, 3> words{
      {{" status=0 ", " status=X "}, {" status=1 ", " status=A "}, {" status=2 ", " status=B "}}};
  std::string name_of(const State& state) const { return detail::pll_name(state, words); }
  std::optional<State> state_named(std::string_view name) const {
    return detail::pll_state<State>(name, words);
  }
  template <class Column>
  void table_variables(std::vector<Column>& columns) const {
    detail::add_pll_columns<State>(words, columns);
  }
  void append_values(const State& state, std::vector<double>& values) const {
    detail::append_pll_values(state, values);
  }

  // The number of reachable states with the corrected reading, for c_max >= 2 and k >= 1 (tinier
  // constants make some of them coincide).
  Interactions state_count() const { return 14 * constants_.c_max + 7 + 3 * constants_.nonce; }

  // Algorithm 1.
  constexpr void interact(State& a0, State& a1, Choice auto& choice) const {
    const Pair a{&a0, &a1};
    const std::array init{a0.init(), a1.init()};
    assign_status(a, choice);                                                     // lines 1-6
    const std::array<bool, 2> tick = detail::synchronize(a, constants_, choice);  // lines 7-10
    for (const std::size_t i : both) {                                            // lines 11-15
      if (a[i]->epoch > init[i]) enter_epoch(*a[i], choice);
    }
    if (a0.epoch == 1) quick_elimination(a, choice);  // lines 16-17
    if (a0.epoch == 2) tournament(a, choice);         // lines 18-19
    if (a0.epoch == 3) back_up(a, tick[0], choice);   // lines 20-21
  }

  // A state in 32 bits: the variable below, five fields above it.
  using Packed = std::uint32_t;

  constexpr Packed pack(const State& s) const {
    return s.variable | Packed{s.leader} << 16 | Packed{s.done} << 17 |
           static_cast<Packed>(s.status) << 18 | Packed{s.color} << 20 |
           static_cast<Packed>(s.epoch - 1) << 22;
  }

  constexpr State unpack(Packed word) const {
    State s;
    s.variable = static_cast<std::uint16_t>(word);
    s.leader = (word >> 16 & 1) != 0;
    s.done = (word >> 17 & 1) != 0;
    s.status = static_cast<Status>(word >> 18 & 3);
    s.color = static_cast<std::uint8_t>(word >> 20 & 3);
    s.epoch = static_cast<std::uint8_t>((word >> 22 & 3) + 1);
    return s;
  }

  // Timers and levels are close together: 60 to 240 states at a time, also among 10^9 agents.
  static constexpr bool meets_few_states = true;

  using Tally = detail::PllTally<PllOver>;

 private:
  using Pair = detail::PllPair<State>;
  static constexpr detail::Both both{};

  // Lines 1-6: every agent gets its status at its first interaction.
  static constexpr void assign_status(Pair a, Choice auto& choice) {
    if (a[0]->is_x() && a[1]->is_x()) {
      note(choice, "1-3");
      a[0]->status = Status::a;
      a[1]->status = Status::b;
      a[1]->leader = false;
      return;
    }
    for (const std::size_t i : both) {  // a late agent is a follower without coin flips
      if (!a[i]->is_x()) continue;
      note(choice, "4-5");
      a[i]->status = Status::a;
      a[i]->done = true;
      a[i]->leader = false;
    }
  }

  // Lines 12-14. `done` has no meaning any more and gets the value that most agents have.
  static constexpr void enter_epoch(State& s, Choice auto& choice) {
    note(choice, "11-14");
    if (!s.is_a()) return;
    s.done = true;
    if (s.epoch == 2) s.rand() = 1;
    if (s.epoch == 3) s.level_b() = 0;
    if (s.epoch == 4) s.variable = 0;
  }

  // Algorithm 3: a leader flips a coin whenever it meets a follower (initiator = head), until its
  // first tail; those who have stopped spread the largest number of heads.
  constexpr void quick_elimination(Pair a, Choice auto& choice) const {
    note(choice, "16-17");
    for (const std::size_t i : both) {
      if (!a[i]->leader || a[1 - i]->leader || a[i]->done) continue;
      note(choice, i == 0 ? "35-36" : "35, 37");
      if (i == 0) a[0]->level_q() = constants_.next_level(a[0]->level_q());
      if (i == 1) a[1]->done = true;
      break;
    }
    if (!a[0]->is_a() || !a[1]->is_a() || !a[0]->done || !a[1]->done) return;
    take_larger(a, "39-41", choice);
  }

  // Algorithm 4: a leader builds a nonce of k bits, then the largest nonce spreads.
  constexpr void tournament(Pair a, Choice auto& choice) const {
    note(choice, "18-19");
    for (const std::size_t i : both) {
      if (!a[i]->leader || a[1 - i]->leader || a[i]->rand() >= constants_.nonce) continue;
      note(choice, "43-44");
      a[i]->rand() = static_cast<Number<std::uint16_t>>(std::size_t{2} * a[i]->rand() + i);
      break;
    }
    if (!a[0]->is_a() || !a[1]->is_a() || !has_nonce(*a[0]) || !has_nonce(*a[1])) return;
    take_larger(a, "46-48", choice);
  }

  // Line 46.
  constexpr bool has_nonce(State& s) const { return constants_.has_nonce(s.rand(), s.leader); }

  // Algorithm 5. Only the initiator's tick is a head: this is the coin flip (line 50).
  constexpr void back_up(Pair a, bool initiator_ticks, Choice auto& choice) const {
    note(choice, "20-21");
    if (initiator_ticks && a[0]->leader) {
      note(choice, "50-51");
      a[0]->level_b() = constants_.next_level(a[0]->level_b());
    }
    if (a[0]->is_a() && a[1]->is_a()) take_larger(a, "53-55", choice);
    note(choice, "57", a[0]->leader && a[1]->leader);
    if (a[0]->leader && a[1]->leader) a[1]->leader = false;
  }

  // Lines 40-41, 47-48, 54-55: the agent with the smaller value takes the larger and is a follower.
  static constexpr void take_larger(Pair a, const char* lines, Choice auto& choice) {
    for (const std::size_t i : both) {
      if (a[i]->variable >= a[1 - i]->variable) continue;
      note(choice, lines);
      a[i]->variable = a[1 - i]->variable;
      a[i]->leader = false;
      return;
    }
  }

  Constants constants_;
};
using Pll = PllOver<MachineValues>;
static_assert(MeetsFewStates<Pll>);
static_assert(TallyOf<Pll::Tally, Pll>);

}  // namespace conclave::protocols
