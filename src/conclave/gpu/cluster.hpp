// A cluster of blocks, the partner of a warp (warp.hpp) and of a block (block.hpp) for very large
// populations: the threads of many multiprocessors that run one trial together. On the device a
// thread is a thread (device_cluster.cuh), here it is an index.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "conclave/gpu/schedule_ahead.hpp"
#include "conclave/gpu/warp.hpp"

namespace conclave::gpu {

// The threads of one block of the emulated cluster, in a part of the work that blocks do by
// themselves.
class HostCrew : public HostAtomics {
 public:
  static constexpr int threads = 16;
  static constexpr std::uint32_t most_streams = 2;     // of random words, eight threads each
  static constexpr std::uint32_t stretches_ahead = 3;  // places in a ring

  template <class Action>
  void each(Action action) const {
    for (int thread = 0; thread < threads; ++thread) action(thread);
  }
  // One of them.
  template <class Action>
  void first(Action action) const {
    action();
  }
  // From here on every thread of the block sees what the others have written.
  void sync() const {}

  using HostAtomics::take_one;
  // Increments the counter for every thread that wants it and returns its old value, or anything
  // to those that do not. All threads of a warp must ask.
  static std::uint32_t take_one(std::uint32_t* counter, bool wants) {
    return wants ? (*counter)++ : 0;
  }
};

class HostCluster : public HostAtomics {
 public:
  using Crew = HostCrew;
  static constexpr std::uint32_t blocks = 3;

  // A variable of which each thread has its own.
  template <class T>
  class Own {
   public:
    T& operator[](std::uint32_t thread) { return values_[thread]; }

   private:
    std::array<T, std::size_t{blocks} * HostCrew::threads> values_{};
  };

  template <class Action>
  void each_block(Action action) {
    for (std::uint32_t block = 0; block < blocks; ++block) action(HostCrew(), block, shared_.get());
  }
  // All threads of the cluster.
  template <class Action>
  void each(Action action) const {
    for (std::uint32_t thread = 0; thread < blocks * HostCrew::threads; ++thread) action(thread);
  }
  template <class Action>
  void first(Action action) const {
    action();
  }
  // From here on every thread of the cluster sees what the others have written, if it reads memory
  // by `load`.
  void sync() const {
    if (meanwhile) meanwhile();
  }
  // Each thread does this after it has written and before it may read.
  template <class Action>
  void sync(Action action) const {
    action();
    sync();
  }
  std::function<void()> meanwhile;  // others of the device do this

  template <class T>
  static void store(T* to, T value) {
    *to = value;
  }

 private:
  std::unique_ptr<PreparerShared> shared_ = std::make_unique<PreparerShared>();
};

}  // namespace conclave::gpu
