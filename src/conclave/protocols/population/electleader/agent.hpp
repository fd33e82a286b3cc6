// The state of one agent of ElectLeader_r (Figures 1, 2 and 4), except its messages and
// observations, which are kept elsewhere: see messages.hpp.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "conclave/base/choice.hpp"
#include "conclave/protocols/population/electleader/constants.hpp"
#include "conclave/protocols/population/electleader/groups.hpp"

namespace conclave::protocols::electleader {

// Appendix B of ElectLeader_r: random values made of coins that agents see in each other, so that
// the transition function itself is deterministic. And the ordinary way, through a Choice.

// These fields are active in every role (erratum 47). `seen` holds the last 64 coins, the newest in
// the lowest bit: the same coins as the paper's cyclic array and its counter.
struct Coins {
  std::uint64_t seen = 0;
  bool coin = false;
  friend bool operator==(const Coins&, const Coins&) = default;
};

// At every interaction, each agent notes the other's coin and turns its own.
inline void exchange_coins(Coins& u, Coins& v) {
  u.seen = u.seen << 1 | static_cast<std::uint64_t>(v.coin);
  v.seen = v.seen << 1 | static_cast<std::uint64_t>(u.coin);
  u.coin = !u.coin;
  v.coin = !v.coin;
}

// One of 1 ... 2^bits, from the last coins seen.
inline std::uint64_t value_of_coins(const Coins& coins, std::uint32_t bits) {
  return 1 + (bits < 64 ? coins.seen & ((std::uint64_t{1} << bits) - 1) : coins.seen);
}

// A signature of a group: any, or one of the largest power of two below their number (erratum 44).
std::uint64_t draw_signature(const MessageSpace& space, bool derandomize, const Coins& coins,
                             Choice auto& choice) {
  if (!derandomize) return space.signature(choice);
  return value_of_coins(coins, static_cast<std::uint32_t>(std::bit_width(space.contents) - 1));
}

enum class Duty : std::uint8_t { resetting, ranking, verifying };  // the paper's role

// PropagateReset.
struct Resetter {
  std::uint32_t count = 0;  // resetCount
  std::uint32_t delay = 0;  // delayTimer
  friend bool operator==(const Resetter&, const Resetter&) = default;
};

// The types of rankers in Protocol 7; `electing` is in FastLeaderElect.
enum class Type : std::uint8_t { electing, sheriff, deputy, recipient, sleeper, ranked };

// A label, which a deputy hands out: its id and the number of the label, both from 1; 0 is no
// label.
struct Label {
  std::uint32_t deputy = 0;
  std::uint32_t number = 0;
  bool is_none() const { return deputy == 0; }
  friend bool operator==(const Label&, const Label&) = default;
};

// AssignRanks_r. Fields of other types than one's own are at their defaults.
struct Ranker {
  Type type = Type::electing;
  std::uint32_t countdown = 0;
  std::uint32_t rank = 1;

  // electing: FastLeaderElect
  bool done = false;                 // LeaderDone
  std::uint32_t le_count = 0;        // LECount
  std::uint32_t waiting = 0;         // derandomized: coins still to be seen before the draw
  std::uint64_t identifier = 0;      // 0: not yet drawn
  std::uint64_t min_identifier = 0;  // 0: none seen

  std::uint32_t low = 0;  // sheriff: its badges
  std::uint32_t high = 0;
  std::uint32_t counter = 0;  // deputy: labels given out, its own included
  Label label{};              // deputy, recipient, sleeper
  std::uint32_t sleep = 0;    // sleeper

  std::vector<std::uint32_t> channel{};  // all but electing and ranked: labels given out, by deputy
  std::uint64_t sum = 0;                 // of the channel

  bool has_channel() const { return type != Type::electing && type != Type::ranked; }
  friend bool operator==(const Ranker&, const Ranker&) = default;
};

// StableVerify_r and DetectCollision_r.
struct Verifier {
  std::uint32_t rank = 1;
  Standing standing{};  // of the rank
  std::uint8_t generation = 0;
  bool error = false;  // DetectCollision_r is in its state "top"; no signature, counter, messages
  std::uint32_t probation = 0;
  std::uint64_t signature = 1;
  std::uint32_t counter = 1;
  friend bool operator==(const Verifier&, const Verifier&) = default;
};

inline constexpr std::uint32_t generations = 6;

struct Agent {
  Duty duty = Duty::resetting;
  Resetter resetter{};
  Ranker ranker{};
  Verifier verifier{};
  Coins coins{};

  bool is(Duty which) const { return duty == which; }
  friend bool operator==(const Agent&, const Agent&) = default;
};

// The variables of an agent as numbers, for tables of agents (population/agent_table.hpp); those of
// another duty than its own are 0. The two that are no numbers have names for their values.
inline constexpr std::array<std::string_view, 10> table_columns{
    "role",      "rank",       "resetCount", "delayTimer", "type",
    "countdown", "generation", "probation",  "counter",    "error"};
inline constexpr std::array<std::string_view, 3> duty_names{"Resetting", "Ranking", "Verifying"};
inline constexpr std::array<std::string_view, 6> type_names{"electing",  "sheriff", "deputy",
                                                            "recipient", "sleeper", "ranked"};

// In the order of table_columns; enumerators as their numbers.
inline std::array<double, table_columns.size()> table_values(const Agent& agent) {
  const auto duty = static_cast<double>(agent.duty);
  if (agent.is(Duty::resetting)) {
    return {duty, 0, static_cast<double>(agent.resetter.count),
            static_cast<double>(agent.resetter.delay)};
  }
  if (agent.is(Duty::ranking)) {
    const Ranker& ranker = agent.ranker;
    const bool is_ranked = ranker.type == Type::ranked;
    return {duty,
            is_ranked ? static_cast<double>(ranker.rank) : 0.0,
            0,
            0,
            static_cast<double>(ranker.type),
            static_cast<double>(ranker.countdown)};
  }
  const Verifier& verifier = agent.verifier;
  return {duty,
          static_cast<double>(verifier.rank),
          0,
          0,
          0,
          0,
          static_cast<double>(verifier.generation),
          static_cast<double>(verifier.probation),
          static_cast<double>(verifier.counter),
          verifier.error ? 1.0 : 0.0};
}

// The name of a column and those of its values, if these are no numbers.
inline std::pair<std::string_view, std::span<const std::string_view>> table_column(
    const Agent&, std::size_t column) {
  std::span<const std::string_view> labels;
  if (column == 0) labels = duty_names;
  if (column == 4) labels = type_names;
  return {table_columns[column], labels};
}

// Changes of duty delete what the new one does not use, but never the coins.
inline Agent resetter(std::uint32_t count, std::uint32_t delay, const Coins& coins) {
  return {.duty = Duty::resetting, .resetter = {count, delay}, .coins = coins};
}

}  // namespace conclave::protocols::electleader
