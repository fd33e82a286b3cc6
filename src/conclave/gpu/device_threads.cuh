// The threads of a CUDA device as the loops over trials use them: operations on memory that they
// share, warps for many small trials, and clusters for large ones. A cluster takes a device of
// compute capability 9.0 or later: blocks of 512 threads that run one trial together. Each has a
// multiprocessor of its own, since it fills most of the memory there. Tests run the same loops on
// emulations (warp.hpp, tests/support/host_cluster.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "conclave/gpu/layers.hpp"
#include "conclave/gpu/warp.hpp"

namespace conclave::gpu {

// See HostAtomics for the contract.
class DeviceAtomics {
 public:
  __device__ __forceinline__ static void publish(bool* flag) {
    __threadfence_system();
    *static_cast<volatile bool*>(flag) = true;
  }
  __device__ __forceinline__ static std::uint64_t take_one(std::uint64_t* counter) {
    return atomicAdd(reinterpret_cast<unsigned long long*>(counter), 1ull);
  }
  __device__ __forceinline__ static std::uint32_t take_one(std::uint32_t* counter) {
    return atomicAdd(counter, 1u);
  }
  __device__ __forceinline__ static void lower(std::uint32_t* value, std::uint32_t other) {
    atomicMin(value, other);
  }
  __device__ __forceinline__ static bool set_bit(std::uint32_t* words, std::uint32_t index) {
    const std::uint32_t bit = 1u << index % 32;
    return (atomicOr(&words[index / 32], bit) & bit) != 0;
  }

  // Past the first cache, which does not know what other multiprocessors have written.
  template <class T>
  __device__ __forceinline__ static T load(const T* from) {
    T value;
    for (std::size_t i = 0; i < units<T>; ++i) {
      reinterpret_cast<Unit<T>*>(&value)[i] = __ldcg(reinterpret_cast<const Unit<T>*>(from) + i);
    }
    return value;
  }
  template <class T>
  __device__ __forceinline__ static void store(T* to, const T& value) {
    for (std::size_t i = 0; i < units<T>; ++i) {
      __stcg(reinterpret_cast<Unit<T>*>(to) + i, reinterpret_cast<const Unit<T>*>(&value)[i]);
    }
  }

 private:
  // The largest integer of which a T is made up and for which there are such instructions.
  template <class T>
  using Unit = std::conditional_t<
      alignof(T) % 8 == 0, unsigned long long,
      std::conditional_t<alignof(T) % 4 == 0, unsigned,
                         std::conditional_t<alignof(T) % 2 == 0, unsigned short, unsigned char>>>;
  template <class T>
  static constexpr std::size_t units = sizeof(T) / sizeof(Unit<T>);
};

// A warp: a lane is a thread, and has its own variables in its registers. Every function is called
// by all threads of the warp. See HostWarp for the contract.
class DeviceWarp : public DeviceAtomics {
 public:
  template <class T>
  class Own {
   public:
    __device__ __forceinline__ T& operator[](int) { return value_; }
    __device__ __forceinline__ const T& operator[](int) const { return value_; }

   private:
    T value_;
  };

  template <class Action>
  __device__ __forceinline__ void each(Action action) const {
    action(lane());
  }

  template <class Question>
  __device__ __forceinline__ Own<std::uint32_t> ballot(Question question) const {
    Own<std::uint32_t> answers;
    const std::uint32_t all = __ballot_sync(~0u, question(lane()));
    answers[lane()] = all >> (lane() - place_of(lane())) & all_lanes;
    return answers;
  }

  template <class Question>
  __device__ __forceinline__ bool any(Question question) const {
    return __any_sync(~0u, question(lane())) != 0;
  }

  template <class T>
  __device__ __forceinline__ Own<T> from_around(const Own<T>& values, int distance) const {
    Own<T> moved;
    moved[lane()] = __shfl_sync(~0u, values[lane()], lane() - distance, lanes_per_trial);
    return moved;
  }

  __device__ __forceinline__ Own<std::uint32_t> sum(const Own<std::uint32_t>& values) const {
    Own<std::uint32_t> sums = values;
    for (int distance = 1; distance < lanes_per_trial; distance *= 2) {
      sums[lane()] += __shfl_xor_sync(~0u, sums[lane()], distance);
    }
    return sums;
  }

  template <class T>
  __device__ __forceinline__ Own<T> from_first(const Own<T>& values) const {
    Own<T> moved;
    moved[lane()] = __shfl_sync(~0u, values[lane()], 0, lanes_per_trial);
    return moved;
  }

  __device__ __forceinline__ void sync() const { __syncwarp(); }

 private:
  __device__ __forceinline__ static int lane() {
    return static_cast<int>(threadIdx.x) % lanes_per_warp;
  }
};

// The threads of one block, in a part of the work that blocks do by themselves. All of them call
// every function.
class DeviceCrew : public DeviceAtomics {
 public:
  static constexpr int threads = 512;
  // Two fewer than threads would allow: then a layer has three interactions for each thread of
  // sixteen blocks at most.
  static constexpr std::uint32_t most_streams = 62;
  static constexpr std::uint32_t words_per_lane = 384;  // a stretch ends in layers of few

  // Calls action(thread) in every thread of the block.
  template <class Action>
  __device__ __forceinline__ void each(Action action) const {
    action(static_cast<int>(threadIdx.x));
  }
  // One of them.
  template <class Action>
  __device__ __forceinline__ void first(Action action) const {
    if (threadIdx.x == 0) action();
  }
  // From here on every thread of the block sees what the others have written.
  __device__ __forceinline__ void sync() const { __syncthreads(); }

  using DeviceAtomics::take_one;
  // Increments the counter for every thread that wants it and returns its old value, or anything
  // to those that do not: one addition for all lanes of a warp, all of which must ask.
  __device__ __forceinline__ static std::uint32_t take_one(std::uint32_t* counter, bool wants) {
    const std::uint32_t all = __ballot_sync(~0u, wants);
    if (all == 0) return 0;
    const int speaker = __ffs(static_cast<int>(all)) - 1;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    std::uint32_t first = 0;
    if (lane == speaker) first = atomicAdd(counter, static_cast<std::uint32_t>(__popc(all)));
    first = __shfl_sync(~0u, first, speaker);
    return first + static_cast<std::uint32_t>(__popc(all & ((1u << lane) - 1)));
  }
};

// All threads of the cluster call every function.
class DeviceCluster : public DeviceAtomics {
 public:
  using Crew = DeviceCrew;

  // A variable of which each thread has its own.
  template <class T>
  class Own {
   public:
    __device__ __forceinline__ T& operator[](std::uint32_t) { return value_; }

   private:
    T value_;
  };

  // The cluster has so many blocks, one after the other in the grid, and each of them has so many
  // words of shared memory.
  __device__ DeviceCluster(std::uint32_t blocks, std::uint32_t* near, std::uint32_t near_words)
      : blocks_(blocks), near_(near), near_words_(near_words) {}

  __device__ __forceinline__ std::uint32_t blocks() const { return blocks_; }
  // How many all blocks have.
  __device__ __forceinline__ std::uint32_t threads() const { return blocks_ * Crew::threads; }

  // Calls action(crew, block, memory) for the block of each thread, with the memory near it.
  template <class Action>
  __device__ __forceinline__ void each_block(Action action) {
    action(DeviceCrew(), block(), LayersMemory::in(near_, near_words_));
  }
  // Calls action(thread) in every thread of the cluster, numbered from 0.
  template <class Action>
  __device__ __forceinline__ void each(Action action) const {
    // Read anew each time: a compiler that remembered it would do so in memory, which is far away
    // since barriers empty the first cache.
    std::uint32_t thread = 0;
    asm volatile("mov.u32 %0, %tid.x;" : "=r"(thread));
    action(block() * DeviceCrew::threads + thread);
  }
  // One thread of the cluster.
  template <class Action>
  __device__ __forceinline__ void first(Action action) const {
    if (block() == 0 && threadIdx.x == 0) action();
  }
  // From here on every thread of the cluster sees what the others have written, if it reads memory
  // by `load`; `meanwhile` is done after it has written and before it may read.
  __device__ __forceinline__ void sync() const {
    sync([] {});
  }
  template <class Action>
  __device__ __forceinline__ void sync(Action meanwhile) const {
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    meanwhile();
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
  }

 private:
  __device__ __forceinline__ std::uint32_t block() const { return blockIdx.x & (blocks_ - 1); }

  std::uint32_t blocks_;  // a power of two
  std::uint32_t* near_;
  std::uint32_t near_words_;
};

}  // namespace conclave::gpu
