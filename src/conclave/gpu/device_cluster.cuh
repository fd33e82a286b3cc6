// A cluster of a CUDA device of compute capability 9.0 or later, the partner of a warp (warp.hpp)
// for large populations: blocks of 512 threads that run one trial together. Each has a
// multiprocessor of its own, since it fills most of the memory there. Tests run the same loop on an
// emulation (tests/support/host_cluster.hpp).
#pragma once

#include <cstdint>

#include "conclave/gpu/device_atomics.cuh"
#include "conclave/gpu/layers.hpp"

namespace conclave::gpu {

// The threads of one block, in a part of the work that blocks do by themselves. All of them call
// every function.
class DeviceCrew : public DeviceAtomics {
 public:
  static constexpr int threads = 512;
  // Two fewer than threads would allow: then a layer has three interactions for each thread of
  // sixteen blocks at most.
  static constexpr std::uint32_t most_streams = 62;
  static constexpr std::uint32_t words_per_lane = 384;  // a stretch ends in layers of few

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
