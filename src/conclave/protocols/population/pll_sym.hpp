// Sudo, Ooshita, Izumi, Kakugawa, Masuzawa: Time-Optimal Leader Election in Population Protocols.
// IEEE TPDS 31(11), 2020. Section 4 and Algorithm 6: the symmetric variant, in which no
// rule depends on who initiates an interaction. "Line" numbers are those of Algorithms 1 to 4, and
// of Algorithm 6 where it is named.
//
// The run is that of pll.hpp; three things replace the roles of the two agents. The first status
// alternates between X and Y until an X meets a Y; one becomes A, the other B. Followers carry
// coins: J and K alternate in the same manner until a J meets a K; one becomes F0, the other F1,
// so both are equally many, and a leader flips a fair coin by looking at a follower that has one of
// them. In the end (BackUp), leaders alternate between two values of status_L, and of two different
// ones one resigns.
//
// Only BackUp() is printed in the paper; errata-pll-sym.md says how the rest is read. The file
// is long because errata and steps are listed beside the algorithm, for `describe`.
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
class PllSymOver {
 public:
  // The paper's X and Y, both undecided, A and B: candidates and timers.
  enum class Status : std::uint8_t { x, y, a, b };
  // The paper's J, K, F0 and F1, by which pairs of followers toss a fair coin.
  enum class Coin : std::uint8_t { j, k, f0, f1 };
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
    typename Values::template Name<Coin> coin = Coin::j;  // of followers; J for leaders
    Bool done = false;   // A in epoch 1; true for every A later on, false for X, Y and B
    Bool ready = false;  // leaders in epoch 3; false for all others
    Number<std::uint8_t> status_l = 0;   // leaders in epoch 3; 0 for all others
    Number<std::uint16_t> variable = 0;  // count of B; level_Q, rand, level_B of A in epoch 1, 2, 3

    // The paper's names of the variable; which one it is depends on status and epoch.
    constexpr auto& count() { return variable; }
    constexpr auto& level_q() { return variable; }
    constexpr auto& rand() { return variable; }
    constexpr auto& level_b() { return variable; }

    // The last epoch initialized. Only a corrupted X or Y can be in a later one.
    constexpr Number<std::uint8_t> init() const {
      return is_new() ? Number<std::uint8_t>{1} : epoch;
    }

    constexpr bool is_new() const { return status == Status::x || status == Status::y; }
    constexpr bool is_a() const { return status == Status::a; }
    constexpr bool is_b() const { return status == Status::b; }

    friend bool operator==(const State&, const State&) = default;
    static constexpr std::tuple fields{
        Field{"leader", &State::leader},    Field{"status", &State::status},
        Field{"epoch", &State::epoch},      Field{"color", &State::color},
        Field{"coin", &State::coin},        Field{"done", &State::done},
        Field{"ready", &State::ready},      Field{"status_L", &State::status_l},
        Field{"variable", &State::variable}};
  };

  static constexpr std::array variables{
      Variable{"leader", "{false, true}", "the output; initially true"},
      Variable{"status", "{X, Y, A, B}", "X or Y at first, A candidate, B timer; initially X"},
      Variable{"epoch", "{1, 2, 3}", "which module the agent executes"},
      Variable{"color", "{0, 1, 2}", "the phase of the synchronization"},
      Variable{"coin", "{J, K, F0, F1}", "of followers: F0 shows head, F1 tail; J when new"},
      Variable{"count", "{0 ... c_max - 1}", "of B: interactions since the last change of color"},
      Variable{"level_Q", "{0 ... c_max}", "of A in epoch 1: heads before the first tail"},
      Variable{"done", "{false, true}", "of A in epoch 1: has seen its first tail"},
      Variable{"rand", "{1 ... 2^(k+1) - 1}", "of A in epoch 2: the nonce, built bit by bit"},
      Variable{"level_B", "{0 ... c_max}", "of A in epoch 3: heads, one flip per tick"},
      Variable{"ready", "{false, true}", "of leaders in epoch 3: has ticked and not flipped yet"},
      Variable{"status_L", "{0, 1}", "of leaders in epoch 3: alternates; 1 resigns before 0"},
  };
  static constexpr std::array errata{
      Erratum{"S1", "Section 4",
              "n = 2 alternates between X,X and Y,Y for ever, as any symmetric protocol must; "
              "n >= 3 is demanded"},
      Erratum{"S2", "Section 4",
              "two followers alone only alternate between J,J and K,K: no coin until there are "
              "three; with n = 4 two leaders are left to BackUp"},
      Erratum{"S3", "Section 4",
              "whoever turns from leader to follower gets J: the eliminated, the Y that becomes B, "
              "and X or Y with A or B; so timers carry coins"},
      Erratum{"S4", "Section 4", "of X and Y, the X becomes A; both count as leaders before"},
      Erratum{"S5", "Section 4",
              "the coin rules apply to agents that were followers before the interaction"},
      Erratum{"S6", "Algorithms 3, 4",
              "F0 is a head, F1 a tail, J and K are no flip; so nobody gets a free first head"},
      Erratum{"S7", "Algorithm 6, lines 3-5",
              "no flip in the interaction of the tick itself; ready and status_L start as false, 0 "
              "in epoch 3"},
      Erratum{"S8", "Algorithm 6, line 1",
              "status_L of a follower is never read, so it is not kept"},
      Erratum{"S9", "lines 9, 46", "corrected as in pll (errata L1, L2 there)"},
  };
  static constexpr std::array steps{
      PseudocodeStep{
          "coins",
          "two followers whose coins are J or K: J,J and K,K change into each other, J and K "
          "become F0 and F1",
          "coin"},
      PseudocodeStep{
          "status",
          "two new agents: X,X and Y,Y change into each other, of X and Y the first becomes a "
          "candidate (A), the second a timer (B) and a follower",
          "status, leader, coin, ready, status_L"},
      PseudocodeStep{"4-5", detail::late_agent_text, "status, done, leader, coin, ready, status_L"},
      detail::synchronization_steps[0],
      detail::synchronization_steps[1],
      detail::synchronization_steps[2],
      PseudocodeStep{"11-14", detail::epoch_entry_text,
                     "level_Q, rand, level_B, done, ready, status_L"},
      detail::quick_elimination_step,
      detail::tournament_step,
      PseudocodeStep{"20-21", "both are in epoch 3: BackUp (Algorithm 6)"},
      detail::synchronization_steps[3],
      detail::synchronization_steps[4],
      detail::synchronization_steps[5],
      PseudocodeStep{
          "35-36",
          "QuickElimination: a leader that is still playing sees F0: head, and its level_Q grows",
          "level_Q"},
      PseudocodeStep{"35, 37", "QuickElimination: it sees F1 instead: tail, and it is done",
                     "done"},
      PseudocodeStep{"39-41", detail::larger_level_text, "leader, level_Q, coin, ready, status_L"},
      PseudocodeStep{"43-44",
                     "Tournament: a leader that sees F0 or F1 appends the bit 0 or 1 to its nonce",
                     "rand"},
      PseudocodeStep{"46-48", detail::larger_nonce_text, "leader, rand, coin, ready, status_L"},
      PseudocodeStep{"6: 1-2", "BackUp: the status_L of a leader alternates", "status_L"},
      PseudocodeStep{"6: 3-4", "BackUp: a leader that has ticked is ready to flip", "ready"},
      PseudocodeStep{"6: 5-7",
                     "BackUp: a leader that is ready sees F0: head, and its level_B grows",
                     "level_B, ready"},
      PseudocodeStep{"6: 8-10", "BackUp: a leader that is ready sees F1: tail", "ready"},
      PseudocodeStep{
          "6: 12-15",
          "BackUp: of two candidates, the one with the smaller level_B takes the larger and "
          "follows",
          "leader, level_B, coin, ready, status_L"},
      PseudocodeStep{"6: 16-18",
                     "BackUp: of two leaders whose status_L differ, the one with 1 resigns",
                     "leader, coin, ready, status_L"},
  };
  static constexpr ProtocolInfo info{
      .name = "pll-sym",
      .title = "pll without initiator and responder: symmetric transitions, coins from followers",
      .paper = "Y. Sudo, F. Ooshita, T. Izumi, H. Kakugawa, T. Masuzawa: Time-Optimal Leader "
               "Election in Population Protocols. IEEE Transactions on Parallel and Distributed "
               "Systems 31(11), 2020; Section 4",
      .network = "complete graph, n >= 3",
      .only_there = "its epidemics need that all pairs can interact",
      .convergence = "stabilization: exactly one leader is left (it stays for ever); two agents "
                     "alone could never break their tie",
      .bound = "O(log n) parallel time",
      .states = "50 c_max + 27 + 6 * 2^k reachable (n >= 3)",
      .demo_n = 400'000,
      .smallest_n = 3,
      .variables = variables,
      .observables = detail::pll_observables,
      .errata = errata,
      .steps = steps,
  };
  static constexpr std::array starts{Start{"clean", "every agent in status X (Table 3)", true}};

  static std::string objection(const Parameters& parameters, AgentCount n) {
    if (n < info.smallest_n) {
      return "n = " + std::to_string(n) +
             ": pll-sym needs at least 3 agents; two alone never break their tie, because "
             "symmetric transitions keep equal states equal";
    }
    return parameters.objection(n);
  }

  constexpr PllSymOver(const Parameters& parameters, AgentCount n) : constants_(parameters, n) {}
  // For code that has the constants as symbols (prove).
  constexpr explicit PllSymOver(const Constants& constants) : constants_(constants) {}

  constexpr State initial(std::size_t, AgentCount, Choice auto&) const { return {}; }

  // Every variable uniform in its domain, as far as the agent's group has it: an agent in status X
  // or Y is a leader and a timer is none, for a leader needs the variables of A.
  constexpr State arbitrary(Choice auto& choice) const {
    State s;
    s.status = static_cast<Status>(choice.below(4));
    s.leader = s.is_new() || (s.is_a() && choice.chance(1, 2));
    s.epoch = static_cast<std::uint8_t>(1 + choice.below(3));
    s.color = static_cast<std::uint8_t>(choice.below(3));
    if (!s.leader) s.coin = static_cast<Coin>(choice.below(4));
    s.done = s.is_a() && (s.epoch > 1 || choice.chance(1, 2));
    if (s.is_a() && s.leader && s.epoch == 3) {
      s.ready = choice.chance(1, 2);
      s.status_l = static_cast<std::uint8_t>(choice.below(2));
    }
    if (s.is_a()) s.variable = constants_.arbitrary_variable_of_a(s.epoch, choice);
    if (s.is_b()) s.variable = static_cast<std::uint16_t>(choice.below(constants_.c_max));
    return s;
  }

  // A candidate that follows, everything else 0.
  State zero() const {
    State s;
    s.leader = false;
    s.status = Status::a;
    return s;
  }

  // A timer that is made a leader becomes a candidate, and so does a new agent that is made a
  // follower: the other groups have no choice.
  void set_role(State& s, Role role) const {
    s.leader = role == Role::leader;
    s.coin = {};
    s.ready = false;
    s.status_l = 0;
    if (s.is_a()) return;
    s.status = Status::a;
    s.done = s.epoch > 1 || !s.leader;
    s.variable = s.epoch == 2 ? 1 : 0;
  }

  constexpr Role role(const State& s) const { return s.leader ? Role::leader : Role::follower; }
  constexpr Reading reading() const { return constants_.reading; }

  // States by name, in files and in tables.
  static constexpr std::array<detail::PllWord, 8> words{{{" status=0 ", " status=X "},
                                                         {" status=1 ", " status=Y "},
                                                         {" status=2 ", " status=A "},
                                                         {" status=3 ", " status=B "},
                                                         {" coin=0 ", " coin=J "},
                                                         {" coin=1 ", " coin=K "},
                                                         {" coin=2 ", " coin=F0 "},
                                                         {" coin=3 ", " coin=F1 "}}};
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
  Interactions state_count() const { return 50 * constants_.c_max + 27 + 6 * constants_.nonce; }

  // Algorithm 1, with the rules of Section 4.
  constexpr void interact(State& a0, State& a1, Choice auto& choice) const {
    const Pair a{&a0, &a1};
    const std::array init{a0.init(), a1.init()};
    if (!a0.leader && !a1.leader) change_coins(a, choice);
    assign_status(a, choice);  // instead of lines 1-6
    const std::array<bool, 2> tick = detail::synchronize(a, constants_, choice);  // lines 7-10
    if (a0.is_new()) return;            // X,X or Y,Y: they have no variables of a module yet
    for (const std::size_t i : both) {  // lines 11-15
      if (a[i]->epoch > init[i]) enter_epoch(*a[i], choice);
    }
    if (a0.epoch == 1) quick_elimination(a, choice);  // lines 16-17
    if (a0.epoch == 2) tournament(a, choice);         // lines 18-19
    if (a0.epoch == 3) back_up(a, tick, choice);      // lines 20-21
  }

  // A state in 32 bits: the variable below, eight fields above it.
  using Packed = std::uint32_t;

  constexpr Packed pack(const State& s) const {
    return s.variable | Packed{s.leader} << 16 | Packed{s.done} << 17 | Packed{s.ready} << 18 |
           Packed{s.status_l} << 19 | static_cast<Packed>(s.status) << 20 |
           static_cast<Packed>(s.coin) << 22 | Packed{s.color} << 24 |
           static_cast<Packed>(s.epoch - 1) << 26;
  }

  constexpr State unpack(Packed word) const {
    State s;
    s.variable = static_cast<std::uint16_t>(word);
    s.leader = (word >> 16 & 1) != 0;
    s.done = (word >> 17 & 1) != 0;
    s.ready = (word >> 18 & 1) != 0;
    s.status_l = static_cast<std::uint8_t>(word >> 19 & 1);
    s.status = static_cast<Status>(word >> 20 & 3);
    s.coin = static_cast<Coin>(word >> 22 & 3);
    s.color = static_cast<std::uint8_t>(word >> 24 & 3);
    s.epoch = static_cast<std::uint8_t>((word >> 26 & 3) + 1);
    return s;
  }

  static constexpr bool meets_few_states = true;  // as in pll.hpp

  using Tally = detail::PllTally<PllSymOver>;

 private:
  using Pair = detail::PllPair<State>;
  static constexpr detail::Both both{};

  // J,J -> K,K and K,K -> J,J and J,K -> F0,F1, for two that were followers before (S5).
  static constexpr void change_coins(Pair a, Choice auto& choice) {
    const auto c0 = a[0]->coin;
    const auto c1 = a[1]->coin;
    if (c0 > Coin::k || c1 > Coin::k) return;  // F0 and F1 are for ever
    note(choice, "coins");
    for (const std::size_t i : both) {
      const bool was_j = (i == 0 ? c0 : c1) == Coin::j;
      if (c0 == c1) a[i]->coin = was_j ? Coin::k : Coin::j;
      if (c0 != c1) a[i]->coin = was_j ? Coin::f0 : Coin::f1;
    }
  }

  // X,X -> Y,Y and Y,Y -> X,X and X,Y -> A,B; a late agent is a follower without coin flips.
  static constexpr void assign_status(Pair a, Choice auto& choice) {
    const auto s0 = a[0]->status;
    const auto s1 = a[1]->status;
    const bool both_new = a[0]->is_new() && a[1]->is_new();
    for (const std::size_t i : both) {
      if (!a[i]->is_new()) continue;
      note(choice, both_new ? "status" : "4-5");
      const bool was_x = a[i]->status == Status::x;
      if (both_new && s0 == s1) a[i]->status = was_x ? Status::y : Status::x;
      if (both_new && s0 != s1) a[i]->status = was_x ? Status::a : Status::b;
      if (both_new && s0 != s1 && !was_x) resign(*a[i]);
      if (!both_new) {  // lines 4-6
        a[i]->status = Status::a;
        a[i]->done = true;
        resign(*a[i]);
      }
    }
  }

  // Every new follower has coin J; what only leaders have is forgotten.
  static constexpr void resign(State& s) {
    s.leader = false;
    s.coin = Coin::j;
    s.ready = false;
    s.status_l = 0;
  }

  // Lines 12-14. `done` has no meaning any more and gets the value that most agents have.
  static constexpr void enter_epoch(State& s, Choice auto& choice) {
    note(choice, "11-14");
    if (!s.is_a()) return;
    s.done = true;
    s.variable = s.epoch == 2 ? 1 : 0;  // rand, level_B
    s.ready = false;
    s.status_l = 0;
  }

  // Algorithm 3: a leader flips a coin whenever it meets a follower with F0 (head) or F1 (tail),
  // until its first tail; those who have stopped spread the largest number of heads.
  constexpr void quick_elimination(Pair a, Choice auto& choice) const {
    note(choice, "16-17");
    for (const std::size_t i : both) {
      if (!a[i]->leader || a[i]->done) continue;
      note(choice, "35-36", a[1 - i]->coin == Coin::f0);
      note(choice, "35, 37", a[1 - i]->coin == Coin::f1);
      if (a[1 - i]->coin == Coin::f0) a[i]->level_q() = constants_.next_level(a[i]->level_q());
      if (a[1 - i]->coin == Coin::f1) a[i]->done = true;
    }
    if (!a[0]->is_a() || !a[1]->is_a() || !a[0]->done || !a[1]->done) return;
    take_larger(a, "39-41", choice);
  }

  // Algorithm 4: a leader builds a nonce of k bits, then the largest nonce spreads.
  constexpr void tournament(Pair a, Choice auto& choice) const {
    note(choice, "18-19");
    for (const std::size_t i : both) {
      if (!a[i]->leader || a[i]->rand() >= constants_.nonce) continue;
      const auto coin = a[1 - i]->coin;
      note(choice, "43-44", coin >= Coin::f0);
      if (coin == Coin::f0) a[i]->rand() = static_cast<Number<std::uint16_t>>(2 * a[i]->rand());
      if (coin == Coin::f1) a[i]->rand() = static_cast<Number<std::uint16_t>>(2 * a[i]->rand() + 1);
    }
    if (!a[0]->is_a() || !a[1]->is_a() || !has_nonce(*a[0]) || !has_nonce(*a[1])) return;
    take_larger(a, "46-48", choice);
  }

  // Line 46.
  constexpr bool has_nonce(State& s) const { return constants_.has_nonce(s.rand(), s.leader); }

  // Algorithm 6. A tick makes a leader ready, and its next look at F0 or F1 is its flip.
  constexpr void back_up(Pair a, const std::array<bool, 2>& tick, Choice auto& choice) const {
    note(choice, "20-21");
    for (const std::size_t i : both) {
      if (!a[i]->leader) continue;
      note(choice, "6: 1-2");
      a[i]->status_l = static_cast<Number<std::uint8_t>>(1 - a[i]->status_l);
      const auto coin = a[1 - i]->coin;
      if (tick[i]) {
        note(choice, "6: 3-4");
        a[i]->ready = true;
      } else if (a[i]->ready && coin == Coin::f0) {
        note(choice, "6: 5-7");
        a[i]->level_b() = constants_.next_level(a[i]->level_b());
        a[i]->ready = false;
      } else if (a[i]->ready && coin == Coin::f1) {
        note(choice, "6: 8-10");
        a[i]->ready = false;
      }
    }
    if (a[0]->is_a() && a[1]->is_a()) take_larger(a, "6: 12-15", choice);
    if (a[0]->leader && a[1]->leader && a[0]->status_l != a[1]->status_l) {
      note(choice, "6: 16-18");
      resign(a[0]->status_l == 1 ? *a[0] : *a[1]);
    }
  }

  // The agent with the smaller value takes the larger and is a follower. A follower keeps its coin.
  static constexpr void take_larger(Pair a, const char* lines, Choice auto& choice) {
    for (const std::size_t i : both) {
      if (a[i]->variable >= a[1 - i]->variable) continue;
      note(choice, lines);
      a[i]->variable = a[1 - i]->variable;
      if (a[i]->leader) resign(*a[i]);
      return;
    }
  }

  Constants constants_;
};
using PllSym = PllSymOver<MachineValues>;
static_assert(Packing<PllSym>);
static_assert(TallyOf<PllSym::Tally, PllSym>);

}  // namespace conclave::protocols
