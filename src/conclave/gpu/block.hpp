// A block of threads, the partner of a warp (warp.hpp) for large populations: many threads that run
// one trial together. On the device a thread is a thread (device_block.cuh), here it is an index.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "conclave/gpu/warp.hpp"

namespace conclave::gpu {

inline constexpr int threads_per_block = 256;  // besides those that draw random words

// The answers of the threads of a block: a bit each, 32 to a word, and how many of each 32 said
// yes, since counting bits is slow on a device.
struct BlockVotes {
  static constexpr int word_count = threads_per_block / 32;
  alignas(16) std::uint32_t words[word_count];
  alignas(16) std::uint32_t counts[word_count];

  CONCLAVE_HOST_DEVICE void all_say_yes() {
    for (std::uint32_t& word : words) word = ~0u;
    for (std::uint32_t& count : counts) count = 32;
  }
  CONCLAVE_HOST_DEVICE std::uint32_t count() const {
    std::uint32_t sum = 0;
    for (const std::uint32_t each : counts) sum += each;
    return sum;
  }
  // How many threads before this one said yes.
  CONCLAVE_HOST_DEVICE std::uint32_t before(int thread) const {
    auto sum =
        static_cast<std::uint32_t>(std::popcount(words[thread / 32] & ((1u << thread % 32) - 1)));
    for (int i = 0; i < word_count; ++i) sum += i < thread / 32 ? counts[i] : 0;
    return sum;
  }
};

// The emulation. `each` is executed by all threads of the block but those that draw, which are as
// many as a stream of random words has lanes and have a part of their own.
class HostBlock : public HostAtomics {
 public:
  // A variable of which each thread has its own.
  template <class T>
  class Own {
   public:
    T& operator[](int thread) { return values_[static_cast<std::size_t>(thread)]; }

   private:
    std::array<T, threads_per_block> values_{};
  };

  template <class Action>
  void each(Action action) const {
    for (int thread = 0; thread < threads_per_block; ++thread) action(thread);
  }
  // Asks every thread.
  template <class Question>
  void vote(BlockVotes& votes, Question question) const {
    votes = {};
    for (int thread = 0; thread < threads_per_block; ++thread) {
      if (!question(thread)) continue;
      votes.words[thread / 32] |= 1u << thread % 32;
      ++votes.counts[thread / 32];
    }
  }
  // One thread that is not among those that draw.
  template <class Action>
  void first(Action action) const {
    action();
  }
  // The threads that draw. They do so while the others are at work.
  template <class Action>
  void draw(Action action) const {
    for (int lane = 0; lane < lanes_per_trial; ++lane) action(lane);
  }
  // The part of the others, with barriers among themselves.
  template <class Action>
  void work(Action action) const {
    action();
  }

  // From here on every thread sees what the others have written.
  void sync() const {}
  void sync_workers() const {}
};

}  // namespace conclave::gpu
