// The memory that the threads of a block share while they run a trial together (block_loop.hpp).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "conclave/gpu/block.hpp"
#include "conclave/gpu/trial_loop.hpp"

namespace conclave::gpu {

// Flags of the threads of a block, one bit each.
struct BlockBits {
  std::uint32_t words[threads_per_block / 32];

  CONCLAVE_HOST_DEVICE void clear() {
    for (std::uint32_t& word : words) word = 0;
  }
  // How many of the threads before this one have theirs set.
  CONCLAVE_HOST_DEVICE std::uint32_t before(int thread) const {
    int count = std::popcount(words[thread / 32] & ((1u << thread % 32) - 1));
    for (int i = 0; i < thread / 32; ++i) count += std::popcount(words[i]);
    return static_cast<std::uint32_t>(count);
  }
};

// The memory that the threads of a block share, beside the table of claims and the agents.
template <DeviceProtocol P>
struct BlockShared {
  using Packed = typename Stored<P>::type;
  struct Event {
    Packed u, v, new_u, new_v;
  };
  // Notes about a round stay for as long as a thread may still look at it.
  struct Round {
    BlockBits dropped;    // words that would bias the pair
    std::uint32_t drops;  // how many
    bool has_events;      // the tally must hear of a meeting
  };
  static constexpr std::size_t rounds_kept = 4;

  std::uint64_t words[2][threads_per_block];  // random ones, of this round and the next
  Round rounds[rounds_kept];
  Event events[threads_per_block];
  bool has_event[threads_per_block];  // bytes: many threads at once would wait for one word
  std::uint32_t again;                // the pass after which meetings are left, plus 1
  Lanes::State schedule;
  Lanes::State start;
  std::uint32_t next_start;
  std::uint64_t trial;
  std::uint64_t done;  // interactions, at the end of the trial
  std::uint64_t converged_at;
  bool is_holding;
  bool is_over;
};

}  // namespace conclave::gpu
