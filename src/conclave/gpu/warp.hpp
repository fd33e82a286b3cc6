// A warp: 32 lanes that execute the same code in step, four trials with eight lanes each. The
// algorithm of the gpu engine (trial_loop.hpp) is written once, over a warp that it is given: on
// the device a lane is a thread (device_threads.cuh), here it is an index, and `each` is a loop. So
// tests compare what the device will do with the agents engine on machines that have no device.
#pragma once

#include <array>
#include <cstdint>

// Marks what is compiled for host and device, inlined or apart; without a CUDA compiler it is
// nothing.
#ifdef __CUDACC__
#define CONCLAVE_HOST_DEVICE __host__ __device__ __forceinline__
#define CONCLAVE_HOST_DEVICE_APART __host__ __device__ __noinline__
#else
#define CONCLAVE_HOST_DEVICE inline
#define CONCLAVE_HOST_DEVICE_APART inline
#endif

namespace conclave::gpu {

inline constexpr int lanes_per_warp = 32;
inline constexpr int lanes_per_trial = 8;  // as many as a stream of random words has
inline constexpr int trials_per_warp = lanes_per_warp / lanes_per_trial;
inline constexpr std::uint32_t all_lanes = 0xff;  // of a trial, one bit each

// The lane's number among those of its trial.
constexpr int place_of(int lane) { return lane % lanes_per_trial; }

// Operations on memory that the threads of an emulation share, which are one after the other.
class HostAtomics {
 public:
  // Sets the flag after everything else that was written; others may be waiting for it.
  CONCLAVE_HOST_DEVICE static void publish(bool* flag) { *flag = true; }
  // Increments the counter; returns its old value.
  CONCLAVE_HOST_DEVICE static std::uint64_t take_one(std::uint64_t* counter) {
    return (*counter)++;
  }
  CONCLAVE_HOST_DEVICE static std::uint32_t take_one(std::uint32_t* counter) {
    return (*counter)++;
  }
  // Keeps the smaller one.
  CONCLAVE_HOST_DEVICE static void lower(std::uint32_t* value, std::uint32_t other) {
    if (other < *value) *value = other;
  }
  // Returns whether it was set before.
  CONCLAVE_HOST_DEVICE static bool set_bit(std::uint32_t* words, std::uint32_t index) {
    const std::uint32_t bit = 1u << index % 32;
    const bool was_set = (words[index / 32] & bit) != 0;
    words[index / 32] |= bit;
    return was_set;
  }

  // Reads what any thread of the device may have written before.
  template <class T>
  CONCLAVE_HOST_DEVICE static T load(const T* from) {
    return *from;
  }
};

// The emulation. Every operation is one that the hardware has; they are called by all lanes at
// once.
class HostWarp : public HostAtomics {
 public:
  // A variable of which each lane has its own.
  template <class T>
  class Own {
   public:
    CONCLAVE_HOST_DEVICE T& operator[](int lane) { return values_[static_cast<std::size_t>(lane)]; }
    CONCLAVE_HOST_DEVICE const T& operator[](int lane) const {
      return values_[static_cast<std::size_t>(lane)];
    }

   private:
    std::array<T, lanes_per_warp> values_{};
  };

  // Calls action(lane) in every lane.
  template <class Action>
  CONCLAVE_HOST_DEVICE void each(Action action) const {
    for (int lane = 0; lane < lanes_per_warp; ++lane) action(lane);
  }

  // Gives every lane the answers of the lanes of its trial, one bit each.
  template <class Question>
  CONCLAVE_HOST_DEVICE Own<std::uint32_t> ballot(Question question) const {
    Own<std::uint32_t> answers;
    for (int lane = 0; lane < lanes_per_warp; ++lane) {
      const std::uint32_t bit = question(lane) ? 1u << place_of(lane) : 0u;
      const int first = lane - place_of(lane);
      for (int other = first; other < first + lanes_per_trial; ++other) answers[other] |= bit;
    }
    return answers;
  }

  // Whether any lane of the warp says yes.
  template <class Question>
  CONCLAVE_HOST_DEVICE bool any(Question question) const {
    bool answer = false;
    each([&](int lane) { answer |= static_cast<bool>(question(lane)); });
    return answer;
  }

  // The value that the lane `distance` before has, around the circle of the trial's lanes.
  template <class T>
  CONCLAVE_HOST_DEVICE Own<T> from_around(const Own<T>& values, int distance) const {
    Own<T> moved;
    each([&](int lane) {
      const int other = place_of(place_of(lane) + lanes_per_trial - distance);
      moved[lane] = values[lane - place_of(lane) + other];
    });
    return moved;
  }

  // The sum over the lanes of the trial.
  CONCLAVE_HOST_DEVICE Own<std::uint32_t> sum(const Own<std::uint32_t>& values) const {
    Own<std::uint32_t> sums;
    each([&](int lane) {
      for (int i = 0; i < lanes_per_trial; ++i) {
        sums[lane] += values[lane - place_of(lane) + i];
      }
    });
    return sums;
  }

  // The value of the first lane of the trial.
  template <class T>
  CONCLAVE_HOST_DEVICE Own<T> from_first(const Own<T>& values) const {
    Own<T> moved;
    each([&](int lane) { moved[lane] = values[lane - place_of(lane)]; });
    return moved;
  }

  // From here on every lane sees what the others have written.
  CONCLAVE_HOST_DEVICE void sync() const {}
};

}  // namespace conclave::gpu
