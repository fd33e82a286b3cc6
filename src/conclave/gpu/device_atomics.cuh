// Operations on memory that many threads of a device share, for warps, blocks and clusters.
#pragma once

#include <cstdint>

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
};

}  // namespace conclave::gpu
