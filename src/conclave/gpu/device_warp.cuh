// A warp of a CUDA device: a lane is a thread, and has its own variables in its registers.
#pragma once

#include <cstdint>

#include "conclave/gpu/device_atomics.cuh"
#include "conclave/gpu/warp.hpp"

namespace conclave::gpu {

// See HostWarp for the contract. Every function is called by all threads of the warp.
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

}  // namespace conclave::gpu
