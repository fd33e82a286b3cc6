// ElectLeader_r: its parameters, and the numbers that follow from them and n. "log" of the paper is
// the natural logarithm; every bound is rounded up.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "conclave/base/whole_numbers.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/protocol_info.hpp"
#include "conclave/protocols/population/electleader/groups.hpp"

namespace conclave::protocols::electleader {

// Sets of factors for the constants: those that serve in practice, toy sizes, and the paper's.
enum class Preset : std::uint8_t { usual, small, paper };
// Whether agents take their random bits from the schedule (Appendix B) instead of drawing them.
enum class Derandomize : std::uint8_t { no, yes };

// Readings of the paper's text in places where it does not work; for demonstrations. The
// numbers of docs/explanation/errata-electleader.md are given.
enum class Reading : std::uint8_t {
  working,
  negative_delay,    // 4: a delayTimer that starts at 0 never fires
  other_recipient,   // 11: who meets an agent in leader election becomes a recipient
  losers_leave,      // 12: a loser of the leader election becomes a recipient at once
  split_last_badge,  // 13: a sheriff gives away half of a single badge
  no_guard,          // 14: deputies label before all deputies are known
  no_sleep_timer,    // 15: agents do not count how long they sleep
  no_return,         // 28: a soft reset by epidemic is followed by a full one
  half_of_ids,       // 33: loops over messages end at ID r_u^2
  early_identifier,  // 46: derandomized identifiers are drawn at the first activation
};

struct Parameters {
  std::optional<std::uint64_t> r;
  Preset preset = Preset::usual;
  std::optional<double> r_max;
  std::optional<double> d_max;
  std::optional<double> c_le;
  std::optional<double> c_labels;
  std::optional<double> c_sleep;
  std::optional<double> c_max;
  std::optional<double> p_max;
  std::optional<double> c_s;
  Derandomize derandomize = Derandomize::no;
  Reading reading = Reading::working;
  std::optional<double> c_m;                 // toy sizes of DetectCollision_r
  std::optional<std::uint64_t> signatures;   // the same
  std::optional<std::uint64_t> identifiers;  // of FastLeaderElect, the same

  // The paper's choice for sublinear time with sub-exponentially many states, r = log^2 n.
  void resolve(AgentCount n) {
    const auto bits = static_cast<std::uint64_t>(std::bit_width(n - 1));
    if (!r) r = std::clamp<std::uint64_t>(bits * bits, 1, std::max<std::uint64_t>(1, n / 2));
  }

  static constexpr std::uint64_t most_groups_size = 7131;  // r^5 signatures fit 64 bits
  static constexpr std::uint64_t most_factor = 10'000;
  static constexpr std::uint64_t most_signatures = 1'000'000;

  static constexpr std::tuple fields{
      Parameter{"r", &Parameters::r,
                "size of the groups of ranks, at most n/2: larger is faster, O((n/r) log n) time, "
                "with more states, 2^O(r^2 log n)",
                "min(n/2, ceil(lg n)^2)", 1, most_groups_size},
      Parameter{"preset", &Parameters::preset,
                "all eight constants at once: default = 8, 16, 14, 2, 8, 30, 16, 4; small = 4, 8, "
                "6, 2, 5, 20, 8, 1, the fastest that still work; paper = 60, 120, 15, 2, 13, 60, "
                "100, 33, large enough for the proofs",
                "default"},
      Parameter{"R_max", &Parameters::r_max,
                "resetCount of a trigger, times ln n: smaller is faster, but the reset may end "
                "before it has reached everybody",
                "of the preset", 0, most_factor},
      Parameter{"D_max", &Parameters::d_max,
                "delayTimer of the dormant, times ln n: smaller is faster, but the first may wake "
                "up before the last has been reset",
                "of the preset", 0, most_factor},
      Parameter{"c_LE", &Parameters::c_le,
                "length of FastLeaderElect, times ln n: smaller is faster, but there may be "
                "several sheriffs, and the ranking fails",
                "of the preset", 0, most_factor},
      Parameter{"c_labels", &Parameters::c_labels,
                "labels per deputy, times n/r: smaller needs fewer states, but recipients wait for "
                "the deputies that have some left; at least 1",
                "of the preset", 0, most_factor},
      Parameter{"c_sleep", &Parameters::c_sleep,
                "sleep before ranking oneself, times ln n: smaller is faster, but some may not "
                "know all labels, and the ranking fails",
                "of the preset", 0, most_factor},
      Parameter{"C_max", &Parameters::c_max,
                "countdown of the rankers, times (n/r) ln n: smaller is faster, but it may end "
                "before the ranking does",
                "of the preset", 0, most_factor},
      Parameter{"P_max", &Parameters::p_max,
                "probation of new verifiers, times (n/r) ln n: collisions found later cost a soft "
                "reset first; must exceed the time of detection, or soft resets go on for ever",
                "of the preset", 0, most_factor},
      Parameter{"c_S", &Parameters::c_s,
                "period of the signatures, times the logarithm of the group's size: smaller finds "
                "collisions sooner",
                "of the preset", 0, most_factor},
      Parameter{"derandomize", &Parameters::derandomize,
                "1: identifiers and signatures are made of coins that agents see in each other, as "
                "in Appendix B; transitions are then deterministic",
                "0"},
      Parameter{"reading", &Parameters::reading,
                "how to read the paper in places where only one reading works; the others are for "
                "demonstrations, and some never stabilize",
                "working"}};

  // For DetectCollision_r alone: the paper's numbers are out of reach of exact computations.
  static constexpr std::tuple toy_fields{
      Parameter{
          "c_M", &Parameters::c_m,
          "messages of each rank that an agent holds, times the size of the group; the proofs "
          "need 2",
          "2", 0, 2},
      Parameter{
          "signatures", &Parameters::signatures,
          "a new signature is one of so many, and at most of m^5 in a group of m ranks: fewer "
          "are confused more often, and collisions found later",
          "m^5", 2, most_signatures}};

  // The same for FastLeaderElect.
  static constexpr std::tuple toy_identifiers{
      Parameter{"identifiers", &Parameters::identifiers,
                "an identifier is one of so many: fewer tie more often, and the ranking fails",
                "n^3", 2, most_signatures}};
};

// The eight factors in the order R_max, D_max, c_LE, c_labels, c_sleep, C_max, P_max, c_S.
using Factors = std::array<double, 8>;

inline Factors factors_of(const Parameters& given) {
  constexpr std::array<Factors, 3> presets{Factors{8, 16, 14, 2, 8, 30, 16, 4},
                                           Factors{4, 8, 6, 2, 5, 20, 8, 1},
                                           Factors{60, 120, 15, 2, 13, 60, 100, 33}};
  const Factors& preset = presets[static_cast<std::size_t>(given.preset)];
  const std::array own{given.r_max,   given.d_max, given.c_le,  given.c_labels,
                       given.c_sleep, given.c_max, given.p_max, given.c_s};
  Factors factors{};
  for (std::size_t i = 0; i < factors.size(); ++i) factors[i] = own[i].value_or(preset[i]);
  return factors;
}

struct Constants {
  std::uint32_t n;
  std::uint32_t r;
  std::uint32_t reset_count;  // R_max
  std::uint32_t delay;        // D_max
  std::uint32_t le_count;
  std::uint32_t labels;  // per deputy
  std::uint32_t sleep;
  std::uint32_t countdown;  // C_max
  std::uint32_t probation;  // P_max
  double signature_factor;
  bool derandomize;
  Reading reading;
  MessageRule messages;
  std::uint64_t identifiers;  // 0: n^3

  Constants(const Parameters& parameters, AgentCount size)
      : n(static_cast<std::uint32_t>(size)),
        r(static_cast<std::uint32_t>(*parameters.r)),
        derandomize(parameters.derandomize == Derandomize::yes),
        reading(parameters.reading),
        messages{.per_rank = parameters.c_m.value_or(2),
                 .signatures = parameters.signatures.value_or(0),
                 .loops_over_half = reading == Reading::half_of_ids},
        identifiers(parameters.identifiers.value_or(0)) {
    const Factors factor = factors_of(parameters);
    const double log_n = natural_logarithm(n);
    const double per_group = static_cast<double>(n) / r;
    reset_count = rounded_up(factor[0] * log_n);
    delay = rounded_up(factor[1] * log_n);
    le_count = rounded_up(factor[2] * log_n);
    labels = rounded_up(factor[3] * per_group);
    sleep = rounded_up(factor[4] * log_n);
    countdown = rounded_up(factor[5] * per_group * log_n);
    probation = rounded_up(factor[6] * per_group * log_n);
    signature_factor = factor[7];
  }

  // In-group interactions between two signatures, in a group of this size.
  std::uint32_t signature_period(std::uint32_t group_size) const {
    return std::max(2u, rounded_up(signature_factor * natural_logarithm(group_size)));
  }

  // An identifier of FastLeaderElect, all with the same probability.
  std::uint64_t identifier(Choice auto& choice) const {
    return identifiers == 0 ? uniform_power(n, 3, choice) : 1 + below64(choice, identifiers);
  }

  // Coins that make an identifier: the smallest power of two that is at least n^3.
  std::uint32_t identifier_bits() const {
    return static_cast<std::uint32_t>(std::bit_width(std::uint64_t{n} * n * n - 1));
  }

  // At least 0 and at most most_count, so that no factor overflows.
  static std::uint32_t rounded_up(double value) {
    return static_cast<std::uint32_t>(std::clamp(std::ceil(value), 0.0, most_count));
  }
  static constexpr double most_count = 4e9;
};

inline constexpr AgentCount most_agents = AgentCount{1} << 21;  // n^3 identifiers fit 63 bits

// Why these parameters, r aside, do not fit n, in one sentence; empty if they do.
inline std::string objection_to_constants(const Parameters& parameters, AgentCount n) {
  if (n > most_agents) {
    return "n = " + std::to_string(n) + " is too large: at most 2^21 agents are allowed";
  }
  const Factors factor = factors_of(parameters);
  if (std::ranges::any_of(factor, [](double value) { return value <= 0; })) {
    return "R_max, D_max, c_LE, c_labels, c_sleep, C_max, P_max and c_S must be positive";
  }
  if (factor[3] < 1) return "c_labels is too small: fewer than n labels; at least 1 is needed";
  const double log_n = natural_logarithm(n);
  const double longest = std::max(factor[5], factor[6]) * static_cast<double>(n) /
                         static_cast<double>(*parameters.r) * log_n;
  if (longest > Constants::most_count) {
    return "C_max (n/r) ln n and P_max (n/r) ln n must not exceed 4e9";
  }
  if (parameters.derandomize == Derandomize::yes && factor[1] * log_n < 3 * binary_logarithm(n)) {
    return "D_max is too small for derandomize=1: while dormant, an agent must see 3 lg n coins, "
           "which needs D_max >= 4.33";
  }
  return {};
}

// The same for all parameters.
inline std::string objection_to(const Parameters& parameters, AgentCount n) {
  const auto text = [](auto value) { return std::to_string(value); };
  const std::uint64_t most_r = std::max<std::uint64_t>(1, n / 2);
  if (*parameters.r > most_r) {
    return "r = " + text(*parameters.r) + " is too large for n = " + text(n) +
           ": the paper demands r <= n/2, that is r <= " + text(most_r);
  }
  return objection_to_constants(parameters, n);
}

// Why a representation of the messages that is not literal cannot run these parameters; or empty.
inline std::string objection_to_reading(const Parameters& parameters, bool is_literal) {
  if (is_literal || parameters.reading != Reading::half_of_ids) return {};
  return "reading=half-of-ids loses messages, which only their literal arrays can show: add "
         "--engine dense";
}

}  // namespace conclave::protocols::electleader

template <>
inline constexpr std::array<std::string_view, 3>
    conclave::names_of<conclave::protocols::electleader::Preset>{"default", "small", "paper"};
template <>
inline constexpr std::array<std::string_view, 2>
    conclave::names_of<conclave::protocols::electleader::Derandomize>{"0", "1"};
template <>
inline constexpr std::array<std::string_view, 10>
    conclave::names_of<conclave::protocols::electleader::Reading>{
        "working",  "negative-delay", "other-recipient", "losers-leave", "split-last-badge",
        "no-guard", "no-sleep-timer", "no-return",       "half-of-ids",  "early-identifier"};
