// The common part of P_LL (pll.hpp) and its symmetric variant (pll_sym.hpp): parameters, the
// synchronization by timers and colours (Algorithm 2 and line 9), and what is observed.
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
#include <vector>

#include "conclave/model/population.hpp"
#include "conclave/model/protocol_info.hpp"
#include "conclave/model/steps.hpp"
#include "conclave/model/values.hpp"

namespace conclave::protocols::detail {

enum class PllReading : std::uint8_t { corrected, printed };

constexpr std::uint64_t ceil_lg(std::uint64_t n) {
  return static_cast<std::uint64_t>(n <= 1 ? 0 : std::bit_width(n - 1));
}

struct PllParameters {
  std::optional<std::uint64_t> m;
  std::optional<std::uint64_t> c_max;
  std::optional<std::uint64_t> k;
  PllReading reading = PllReading::corrected;

  static constexpr std::tuple fields{
      Parameter{"m", &PllParameters::m, "rough knowledge of lg n; the paper demands m >= lg n",
                "ceil(lg n)", 1, 1598},
      Parameter{"c_max", &PllParameters::c_max,
                "length of a timer and largest level, for toy sizes", "41 m", 1, 65535},
      Parameter{"k", &PllParameters::k, "bits of a nonce, for toy sizes", "ceil(lg m)", 0, 15},
      Parameter{"reading", &PllParameters::reading,
                "printed follows lines 9 and 46 to the letter (see errata L1, L2)", "corrected"}};

  static constexpr std::uint64_t least_m(AgentCount n) {
    return std::max<std::uint64_t>(1, ceil_lg(n));
  }

  void resolve(AgentCount n) {
    if (!m) m = least_m(n);
  }

  std::string objection(AgentCount n) const {
    if (!m || *m >= least_m(n)) return {};
    return "m = " + std::to_string(*m) + " is too small for n = " + std::to_string(n) +
           ": the paper demands m >= lg n, that is m >= " + std::to_string(least_m(n));
  }
};

template <class Values>
struct PllConstants {
  template <class Integer>
  using Number = typename Values::template Number<Integer>;

  Number<std::uint32_t> c_max;
  Number<std::uint32_t> nonce;  // 2^k, the smallest complete nonce
  PllReading reading;

  constexpr PllConstants(const PllParameters& parameters, AgentCount n)
      : reading(parameters.reading) {
    const std::uint64_t m = parameters.m.value_or(PllParameters::least_m(n));
    c_max = static_cast<std::uint32_t>(parameters.c_max.value_or(41 * m));
    nonce = std::uint32_t{1} << parameters.k.value_or(ceil_lg(m));
  }

  constexpr PllConstants(Number<std::uint32_t> most, Number<std::uint32_t> smallest_nonce)
      : c_max(most), nonce(smallest_nonce), reading(PllReading::corrected) {}

  // Line 9. As printed, the epoch leaves its domain; no module runs from 4 on, so 4 means "beyond".
  constexpr Number<std::uint8_t> next_epoch(Number<std::uint8_t> epoch) const {
    using Epoch = Number<int>;
    const Epoch next = epoch + 1;
    if (reading == PllReading::printed)
      return static_cast<Number<std::uint8_t>>(std::min(std::max(next, Epoch{3}), Epoch{4}));
    return static_cast<Number<std::uint8_t>>(std::min(next, Epoch{3}));
  }

  // Lines 36 and 51; line 6 of Algorithm 6.
  constexpr Number<std::uint16_t> next_level(Number<std::uint16_t> level) const {
    return static_cast<Number<std::uint16_t>>(std::min<Number<std::uint32_t>>(level + 1u, c_max));
  }

  // Line 46. Followers keep rand = 1 from line 12, so to demand rand >= 2^k of them, as printed,
  // stops the epidemic before it starts (erratum L2).
  constexpr bool has_nonce(Number<std::uint16_t> rand, bool is_leader) const {
    return rand >= nonce || (reading == PllReading::corrected && !is_leader);
  }

  // Line 24: the timer of B, 0 when it is over.
  constexpr Number<std::uint16_t> next_count(Number<std::uint16_t> count) const {
    return static_cast<Number<std::uint16_t>>((count + 1u) % c_max);
  }

  // level_Q, rand or level_B of A, uniform in the domain of Table 3.
  constexpr std::uint16_t arbitrary_variable_of_a(std::uint8_t epoch, Choice auto& choice) const {
    const std::uint32_t value =
        epoch == 2 ? 1 + choice.below(2 * nonce - 1) : choice.below(c_max + 1);
    return static_cast<std::uint16_t>(value);
  }
};

template <class State>
using PllPair = std::array<State*, 2>;  // a_0 initiates, a_1 responds

// The numbers of both agents of a pair, 0 and 1, to loop over. Not an array: a CUDA compiler takes
// the elements of a constant array to be unknown on the device, and says nothing.
struct Both {
  struct Number {
    std::size_t value;
    constexpr std::size_t operator*() const { return value; }
    constexpr Number& operator++() {
      ++value;
      return *this;
    }
    friend constexpr bool operator==(Number, Number) = default;
  };
  constexpr Number begin() const { return {0}; }
  constexpr Number end() const { return {2}; }
};
inline constexpr Both both{};

template <class Color>
constexpr Color next_color(Color color) {
  return color == 2 ? Color{0} : static_cast<Color>(color + 1);
}

// Lines 23-34, Algorithm 2, CountUp(); says who ticks.
template <class State>
constexpr std::array<bool, 2> count_up(const PllPair<State>& a, const auto& constants,
                                       Choice auto& choice) {
  std::array<bool, 2> tick{false, false};  // line 7
  for (const std::size_t i : both) {
    if (!a[i]->is_b()) continue;
    note(choice, "23-24");
    a[i]->count() = constants.next_count(a[i]->count());
    if (a[i]->count() != 0) continue;
    note(choice, "25-27");
    a[i]->color = next_color(a[i]->color);
    tick[i] = true;
  }
  for (const std::size_t i : both) {  // the colour behind catches up
    if (a[1 - i]->color != next_color(a[i]->color)) continue;
    note(choice, "30-33");
    a[i]->color = a[1 - i]->color;
    tick[i] = true;
    if (a[i]->is_b()) a[i]->count() = 0;
    break;  // "exists i": at most one
  }
  return tick;
}

// Lines 7-10: time goes on, who ticks enters the next epoch, and both go on in the later one. Says
// who has ticked.
template <class State>
constexpr std::array<bool, 2> synchronize(const PllPair<State>& a, const auto& constants,
                                          Choice auto& choice) {
  note(choice, "7-8");
  const std::array<bool, 2> tick = count_up(a, constants, choice);
  for (const std::size_t i : both) {
    note(choice, "9", tick[i]);
    if (tick[i]) a[i]->epoch = constants.next_epoch(a[i]->epoch);
  }
  note(choice, "10");
  a[0]->epoch = a[1]->epoch = std::max(a[0]->epoch, a[1]->epoch);
  return tick;
}

// The steps of `synchronize`.
inline constexpr std::array synchronization_steps{
    PseudocodeStep{"7-8", "nobody has ticked yet; time goes on (CountUp, lines 23-33)"},
    PseudocodeStep{"9", "an agent that has ticked enters the next epoch", "epoch"},
    PseudocodeStep{"10", "both agents go on in the later epoch", "epoch"},
    PseudocodeStep{"23-24", "CountUp: a timer (B) counts its interactions", "count"},
    PseudocodeStep{"25-27", "CountUp: its count is over, so that its color goes on, and it ticks",
                   "color"},
    PseudocodeStep{
        "30-33",
        "CountUp: the agent whose color is behind takes the other's and ticks; a timer begins to "
        "count anew",
        "color, count"},
};

// Steps that both variants have; where only the text is the same, they set other fields.
inline constexpr PseudocodeStep quick_elimination_step{
    "16-17", "both are in epoch 1: QuickElimination (lines 35-41)"};
inline constexpr PseudocodeStep tournament_step{"18-19",
                                                "both are in epoch 2: Tournament (lines 43-48)"};
inline constexpr std::string_view late_agent_text =
    "a new agent with any other becomes a candidate that follows and has no coins to flip";
inline constexpr std::string_view epoch_entry_text =
    "a candidate that has entered an epoch sets the variable of its module: rand to 1, "
    "level_B to 0";
inline constexpr std::string_view larger_level_text =
    "QuickElimination: of two candidates that are done, the one with the smaller level_Q takes "
    "the larger and follows";
inline constexpr std::string_view larger_nonce_text =
    "Tournament: of two candidates whose nonces are complete, the one with the smaller takes the "
    "larger and follows";

inline constexpr std::array pll_observables{
    Observable{"epoch_at_convergence", "largest epoch of any agent when the trial ends"},
    Observable{"leaders_after_quick_elimination",
               "leaders when the first agent leaves epoch 1 (1 if stabilized before)"},
    Observable{"leaders_after_tournament",
               "leaders when the first agent reaches epoch 3 (1 if stabilized before)"},
    Observable{"frozen", "reading=printed only: everyone is beyond epoch 3, with several leaders "
                         "that are never eliminated"},
};

// Counts the leaders and notes how many there are when the epochs begin.
template <class P>
class PllTally {
 public:
  using State = typename P::State;

  explicit constexpr PllTally(const P& protocol) : reading_(protocol.reading()) {}

  constexpr void add(const State& s, AgentCount count = 1) {
    leaders_ += s.leader ? count : 0;
    unfrozen_ += s.epoch <= 3 ? count : 0;
  }

  constexpr void remove(const State& s, AgentCount count) {
    leaders_ -= s.leader ? count : 0;
    unfrozen_ -= s.epoch <= 3 ? count : 0;
  }

  constexpr bool is_counted(const State& u, const State& v, const State& new_u,
                            const State& new_v) const {
    return u.leader != new_u.leader || v.leader != new_v.leader ||
           (u.epoch <= 3) != (new_u.epoch <= 3) || (v.epoch <= 3) != (new_v.epoch <= 3);
  }
  AgentCount changes_to_stop() const { return std::min(leaders_ - 1, unfrozen_); }

  // The first agent in each epoch.
  constexpr std::uint8_t milestone_of(const State& new_u, const State& new_v) const {
    return std::max(new_u.epoch, new_v.epoch);
  }
  constexpr std::uint8_t milestone() const { return epoch_; }

  // After a fault: what had been observed stays observed.
  void inherit(const PllTally& before) {
    epoch_ = before.epoch_;
    after_quick_elimination_ = before.after_quick_elimination_;
    after_tournament_ = before.after_tournament_;
  }

  constexpr void replace(const State& u, const State& v, const State& new_u, const State& new_v) {
    leaders_ = leaders_ + new_u.leader + new_v.leader - u.leader - v.leader;
    if (u.epoch != new_u.epoch || v.epoch != new_v.epoch) note_epoch(u, v, new_u.epoch);
  }

  constexpr AgentCount leaders() const { return leaders_; }
  constexpr bool converged() const { return leaders_ == 1; }
  constexpr bool frozen() const { return unfrozen_ == 0 && leaders_ > 1; }
  constexpr bool hopeless() const { return frozen() || leaders_ == 0; }  // no line makes a leader

  std::vector<Observation> observations() const {
    std::vector<Observation> all{
        {pll_observables[0].name, std::uint64_t{epoch_}},
        {pll_observables[1].name, after_quick_elimination_.value_or(leaders_)},
        {pll_observables[2].name, after_tournament_.value_or(leaders_)}};
    if (reading_ == PllReading::printed) all.push_back({pll_observables[3].name, frozen()});
    return all;
  }

 private:
  // Line 10 has given both agents the same epoch, the later of the two.
  constexpr void note_epoch(const State& u, const State& v, std::uint8_t epoch) {
    epoch_ = std::max(epoch_, epoch);
    if (epoch >= 2 && !after_quick_elimination_) after_quick_elimination_ = leaders_;
    if (epoch >= 3 && !after_tournament_) after_tournament_ = leaders_;
    if (epoch == 4) unfrozen_ = unfrozen_ - (u.epoch < 4) - (v.epoch < 4);
  }

  PllReading reading_;
  AgentCount leaders_ = 0;
  AgentCount unfrozen_ = 0;  // agents that still execute a module
  std::uint8_t epoch_ = 1;
  std::optional<AgentCount> after_quick_elimination_;
  std::optional<AgentCount> after_tournament_;
};

}  // namespace conclave::protocols::detail

template <>
inline constexpr std::array<std::string_view, 2>
    conclave::names_of<conclave::protocols::detail::PllReading>{"corrected", "printed"};
