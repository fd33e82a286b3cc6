// Appendix B of ElectLeader_r: random values made of coins that agents see in each other, so that
// the transition function itself is deterministic. And the ordinary way, through a Choice.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>

#include "conclave/base/choice.hpp"
#include "conclave/protocols/population/electleader/message_space.hpp"

namespace conclave::protocols::electleader {

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

}  // namespace conclave::protocols::electleader
