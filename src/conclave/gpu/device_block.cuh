// A block of a CUDA device: 256 threads that work, and a warp whose first eight lanes draw.
#pragma once

#include <cstdint>

#include "conclave/gpu/block.hpp"
#include "conclave/gpu/device_atomics.cuh"

namespace conclave::gpu {

// See HostBlock for the contract.
class DeviceBlock : public DeviceAtomics {
 public:
  static constexpr int threads = threads_per_block + lanes_per_warp;

  template <class T>
  class Own {
   public:
    __device__ __forceinline__ T& operator[](int) { return value_; }

   private:
    T value_;
  };

  template <class Action>
  __device__ __forceinline__ void each(Action action) const {
    if (thread() < threads_per_block) action(thread());
  }
  template <class Question>
  __device__ __forceinline__ void vote(BlockVotes& votes, Question question) const {
    const std::uint32_t word = __ballot_sync(~0u, question(thread()));
    if (thread() % 32 != 0) return;
    votes.words[thread() / 32] = word;
    votes.counts[thread() / 32] = static_cast<std::uint32_t>(__popc(word));
  }
  template <class Action>
  __device__ __forceinline__ void first(Action action) const {
    if (thread() == 0) action();
  }
  template <class Action>
  __device__ __forceinline__ void draw(Action action) const {
    const int lane = thread() - threads_per_block;
    if (lane >= 0 && lane < lanes_per_trial) action(lane);
  }
  template <class Action>
  __device__ __forceinline__ void work(Action action) const {
    if (thread() < threads_per_block) action();
  }

  __device__ __forceinline__ void sync() const { __syncthreads(); }
  // Barrier 1 is that of the first 256 threads.
  __device__ __forceinline__ void sync_workers() const {
    asm volatile("bar.sync 1, 256;" ::: "memory");
  }

 private:
  __device__ __forceinline__ static int thread() { return static_cast<int>(threadIdx.x); }
};
static_assert(threads_per_block == 256, "as barrier 1 says");

}  // namespace conclave::gpu
