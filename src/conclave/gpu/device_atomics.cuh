// Operations on memory that many threads of a device share, for warps and clusters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

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

}  // namespace conclave::gpu
