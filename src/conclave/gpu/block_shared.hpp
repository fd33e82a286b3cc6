// The memory that the threads of a block share while they run a trial together (block_loop.hpp).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "conclave/gpu/block.hpp"
#include "conclave/gpu/course.hpp"
#include "conclave/gpu/lane_stream.hpp"
#include "conclave/gpu/trial_loop.hpp"

namespace conclave::gpu {

// Flags of positions, one bit each.
template <std::uint32_t positions>
struct BlockBits {
  std::uint32_t words[positions / 32];

  // The part of one thread in clearing all.
  CONCLAVE_HOST_DEVICE void clear(int thread) {
    for (auto i = static_cast<std::uint32_t>(thread); i < positions / 32; i += threads_per_block) {
      words[i] = 0;
    }
  }
  // How many of those before this one are set.
  CONCLAVE_HOST_DEVICE std::uint32_t before(std::uint32_t position) const {
    int count = std::popcount(words[position / 32] & ((1u << position % 32) - 1));
    for (std::uint32_t i = 0; i < position / 32; ++i) count += std::popcount(words[i]);
    return static_cast<std::uint32_t>(count);
  }
};

// The memory that the threads of a block share, beside the table of claims and the agents.
template <DeviceProtocol P>
struct BlockShared {
  using Packed = typename Stored<P>::type;
  struct Event {
    Packed u, v;             // before the meeting; what becomes of them can be computed again
    std::uint32_t position;  // of the meeting in its round
  };
  struct Pass {
    BlockVotes free;  // threads that have no meeting after it
    bool has_events;  // the tally must hear of a meeting
  };
  static constexpr std::uint32_t words_kept = 4 * threads_per_block;
  static constexpr std::uint32_t positions = 32 * threads_per_block;  // of a round, at most

  UnfinishedWord words[words_kept];  // random ones, in a circle
  Pass passes[2];
  BlockBits<positions> dropped;  // words that would bias the pair
  std::uint32_t drops;           // how many
  Event events[threads_per_block];
  std::uint32_t events_noted;
  std::uint32_t order[threads_per_block];  // in which the tally hears of them
  Lanes::State schedule;
  CourseState course;
};

}  // namespace conclave::gpu
