// After D. Alistarh, R. Gelashvili: Polylogarithmic-time leader election in population protocols.
// ICALP 2015, arXiv 1502.05745: leaders raise a value and defeat each other one to one; whoever has
// lost is a minion, remembers the largest value it has seen, and defeats leaders with a smaller
// one.
//
// Reconstructed: the abstract says what is above, and others quote the bounds with m = Theta(log^3
// n). The size of a step, ties, what the loser keeps and the cap are ours.
//
// Why it is right: the largest value of a leader exceeds the value of every minion. A minion is
// only given the larger value of its meeting, at most m; if a leader has that one, it leaves with
// one more, or with m + 1, which minions never have; if a minion has it, a leader had a larger one
// before. So the top leader loses against an equal leader only, and then one of the two stays.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "conclave/model/population.hpp"
#include "conclave/model/protocol_info.hpp"
#include "conclave/model/steps.hpp"
#include "conclave/model/values.hpp"

namespace conclave::protocols {

template <class Values>
class AgMinionsOver {
 public:
  using Bool = typename Values::Bool;
  template <class Integer>
  using Number = typename Values::template Number<Integer>;

  // Values of the parameter `tie`, whose meaning is in Parameters.
  enum class Tie : std::uint8_t { first, contender };

  struct State {
    Bool leader = true;
    Number<std::uint32_t> value = 1;
    friend bool operator==(const State&, const State&) = default;
    static constexpr std::tuple fields{Field{"leader", &State::leader},
                                       Field{"value", &State::value}};
  };

  static constexpr std::uint64_t most_value = (std::uint64_t{1} << 30) - 1;

  struct Parameters {
    std::optional<std::uint64_t> m;
    Tie tie = Tie::first;

    static constexpr std::tuple fields{
        Parameter{"m", &Parameters::m,
                  "the largest value of a minion: where leaders reach m + 1, they go on as in "
                  "fratricide",
                  "ceil(lg n)^3", 1, most_value},
        Parameter{"tie", &Parameters::tie,
                  "who may survive a tie of equal values: first = the initiator only, "
                  "contender = a leader also against a minion",
                  "first"}};

    void resolve(AgentCount n) {
      if (!m) m = cube_of_logarithm(n);
    }
  };

  static constexpr std::array variables{
      Variable{"leader", "{false, true}", "the output; initially true"},
      Variable{"value", "{1 ... m}, a leader's up to m + 1", "own or largest seen; initially 1"},
  };
  static constexpr std::array errata{
      Erratum{"1", "ties",
              "only the initiator survives a tie (tie=contender: a leader also survives a tie "
              "against a minion, which is nearer to the abstract's words)"},
      Erratum{"2", "the winner's value", "one more than the larger of the two"},
      Erratum{"3", "the cap",
              "leaders stop at m + 1, minions at m; two leaders there differ by their "
              "roles in the interaction, without which they would never be"},
      Erratum{"4", "m", "ceil(lg n)^3; the paper's constant is not known to us"},
  };
  static constexpr std::array steps{
      PseudocodeStep{
          "1",
          "a leader with the larger value stays one, at a tie the initiator; its value grows by 1",
          "leader, value"},
      PseudocodeStep{"2", "everybody else follows and has the larger value", "leader, value"},
  };
  static constexpr ProtocolInfo info{
      .name = "ag-minions",
      .title = "leaders raise a value, the defeated remember the largest: polylogarithmic",
      .paper = "after D. Alistarh, R. Gelashvili: Polylogarithmic-time leader election in "
               "population protocols. ICALP 2015",
      .source = Source::reconstructed,
      .version = "the abstract of arXiv 1502.05745 and bounds quoted by others; steps, ties and "
                 "the cap are ours",
      .network = "complete graph",
      .only_there = "leaders that never interact would both stay",
      .convergence = "stabilization: exactly one leader is left",
      .bound = "O(log^3 n) parallel time",
      .states = "2 m + 1",
      .demo_n = 1'000'000,
      .variables = variables,
      .observables = {},
      .errata = errata,
      .steps = steps,
  };
  static constexpr std::array starts{Start{"clean", "every agent is a leader with value 1", true}};

  static std::string objection(const Parameters&, AgentCount) { return {}; }
  constexpr AgMinionsOver(const Parameters& parameters, AgentCount n)
      : m_(static_cast<std::uint32_t>(parameters.m.value_or(cube_of_logarithm(n)))),
        tie_(parameters.tie) {}
  constexpr AgMinionsOver(Number<std::uint32_t> m, Tie tie) : m_(m), tie_(tie) {}

  constexpr Number<std::uint32_t> m() const { return m_; }
  constexpr State initial(std::size_t, AgentCount, Choice auto&) const { return {}; }
  constexpr State arbitrary(Choice auto& choice) const {
    const std::uint32_t number = choice.below(2 * m_ + 1);
    if (number < m_) return {.leader = false, .value = number + 1};
    return {.leader = true, .value = number - m_ + 1};
  }

  constexpr void interact(State& u, State& v, Choice auto& choice) const {
    const Number<std::uint32_t> top = std::max(u.value, v.value);
    const bool u_stays = u.leader && u.value == top;
    const bool is_tied = tie_ == Tie::contender && v.value == top && !u.leader;
    const bool v_stays = v.leader && (v.value > u.value || is_tied);
    note(choice, "1", u_stays || v_stays);
    note(choice, "2", !u_stays || !v_stays);
    u = after(u_stays, top);
    v = after(v_stays, top);
  }

  State zero() const { return {.leader = false, .value = 1}; }
  void set_role(State& s, Role role) const {
    s.leader = role == Role::leader;
    if (!s.leader) s.value = std::min(s.value, m_);
  }
  constexpr Role role(const State& s) const { return s.leader ? Role::leader : Role::follower; }

  Interactions state_count() const { return Interactions(2u) * m_ + 1u; }

  // The values at a time are close together, far below m.
  static constexpr bool meets_few_states = true;

 private:
  // ceil(lg n)^3, at least 1.
  static constexpr std::uint64_t cube_of_logarithm(AgentCount n) {
    const auto bits = static_cast<std::uint64_t>(std::bit_width(n - 1));
    return bits * bits * bits;
  }

  constexpr State after(bool stays, Number<std::uint32_t> top) const {
    if (stays) return {.leader = true, .value = std::min(top + 1, m_ + 1)};
    return {.leader = false, .value = std::min(top, m_)};
  }

  Number<std::uint32_t> m_;
  Tie tie_;
};
using AgMinions = AgMinionsOver<MachineValues>;
static_assert(MeetsFewStates<AgMinions>);

}  // namespace conclave::protocols

template <>
inline constexpr std::array<std::string_view, 2>
    conclave::names_of<conclave::protocols::AgMinions::Tie>{"first", "contender"};
