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

  template <class T>
  __device__ __forceinline__ static T acquire(const T* from) {
    const T value = *const_cast<const volatile T*>(from);
    __threadfence();
    return value;
  }
  template <class T>
  __device__ __forceinline__ static void release(T* to, T value) {
    __threadfence();
    *const_cast<volatile T*>(to) = value;
  }
  // Past the first cache, which does not know what other multiprocessors have written.
  template <class T>
  __device__ __forceinline__ static T load(const T* from) {
    static_assert(sizeof(T) == 1 || sizeof(T) == 4 || sizeof(T) == 8);
    if constexpr (sizeof(T) == 1) {
      return static_cast<T>(__ldcg(reinterpret_cast<const unsigned char*>(from)));
    } else if constexpr (sizeof(T) == 4) {
      return static_cast<T>(__ldcg(reinterpret_cast<const unsigned*>(from)));
    } else {
      return static_cast<T>(__ldcg(reinterpret_cast<const unsigned long long*>(from)));
    }
  }
  __device__ __forceinline__ static std::uint64_t set_bits(std::uint64_t* value,
                                                           std::uint64_t bits) {
    return atomicOr(reinterpret_cast<unsigned long long*>(value), bits);
  }
  __device__ __forceinline__ static bool replace(std::uint64_t* value, std::uint64_t& expected,
                                                 std::uint64_t desired) {
    const std::uint64_t before =
        atomicCAS(reinterpret_cast<unsigned long long*>(value), expected, desired);
    __threadfence();
    if (before == expected) return true;
    expected = before;
    return false;
  }
  __device__ __forceinline__ static void pause() { __nanosleep(500); }
};

}  // namespace conclave::gpu
