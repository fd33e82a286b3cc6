// A cluster of a CUDA device of compute capability 9.0 or later: sixteen blocks of 512 threads.
// Each has a multiprocessor of its own, since it fills most of the memory there.
#pragma once

#include <cstdint>

#include "conclave/gpu/device_atomics.cuh"
#include "conclave/gpu/schedule_ahead.hpp"

namespace conclave::gpu {

// See HostCrew for the contract.
class DeviceCrew : public DeviceAtomics {
 public:
  static constexpr int threads = 512;
  // Two fewer than threads would allow: then a layer has three meetings for each thread at most.
  static constexpr std::uint32_t most_streams = 62;
  // One is executed while six or seven are prepared.
  static constexpr std::uint32_t stretches_ahead = 12;

  template <class Action>
  __device__ __forceinline__ void each(Action action) const {
    action(static_cast<int>(threadIdx.x));
  }
  template <class Action>
  __device__ __forceinline__ void first(Action action) const {
    if (threadIdx.x == 0) action();
  }
  __device__ __forceinline__ void sync() const { __syncthreads(); }

  using DeviceAtomics::take_one;
  // One addition for all lanes of a warp.
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

// See HostCluster for the contract.
class DeviceCluster : public DeviceAtomics {
 public:
  using Crew = DeviceCrew;
  static constexpr std::uint32_t blocks = 16;

  template <class T>
  class Own {
   public:
    __device__ __forceinline__ T& operator[](std::uint32_t) { return value_; }

   private:
    T value_;
  };

  __device__ explicit DeviceCluster(PreparerShared* shared) : shared_(shared) {}

  template <class Action>
  __device__ __forceinline__ void each_block(Action action) {
    action(DeviceCrew(), block(), shared_);
  }
  template <class Action>
  __device__ __forceinline__ void each(Action action) const {
    // Read anew each time: a compiler that remembered it would do so in memory, which is far away
    // since barriers empty the first cache.
    std::uint32_t thread = 0;
    asm volatile("mov.u32 %0, %tid.x;" : "=r"(thread));
    action(block() * DeviceCrew::threads + thread);
  }
  template <class Action>
  __device__ __forceinline__ void first(Action action) const {
    if (block() == 0 && threadIdx.x == 0) action();
  }
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

  template <class T>
  __device__ __forceinline__ static void store(T* to, T value) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8);
    if constexpr (sizeof(T) == 4) {
      __stcg(reinterpret_cast<unsigned*>(to), static_cast<unsigned>(value));
    } else {
      __stcg(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(value));
    }
  }

 private:
  __device__ __forceinline__ static std::uint32_t block() { return blockIdx.x % blocks; }

  PreparerShared* shared_;
};

}  // namespace conclave::gpu
