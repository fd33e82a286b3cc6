// A block of threads, the partner of a warp (warp.hpp) for large populations: many threads that run
// one trial together. On the device a thread is a thread (device_block.cuh), here it is an index.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "conclave/gpu/warp.hpp"

namespace conclave::gpu {

inline constexpr int threads_per_block = 256;  // besides those that draw random words

// The emulation. `each` is executed by all threads of the block but those that draw, which are as
// many as a stream of random words has lanes and have a part of their own.
class HostBlock {
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

  static void lower(std::uint32_t* value, std::uint32_t other) { *value = std::min(*value, other); }
  static void set_bit(std::uint32_t* words, int thread) { words[thread / 32] |= 1u << thread % 32; }
  static void add_one(std::uint32_t* count) { ++*count; }
  static void publish(bool* flag) { *flag = true; }
  static std::uint64_t take_one(std::uint64_t* counter) { return (*counter)++; }
};

}  // namespace conclave::gpu
