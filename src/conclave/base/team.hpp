// Threads that work on one thing together, all at the same time.
#pragma once

#include <atomic>
#include <cstdint>

#include "conclave/base/function_ref.hpp"

namespace conclave {

// A team is used by one thread at a time, which is its member 0. What uses a team knows only this,
// so that it also compiles where there are no threads.
class Team {
 public:
  virtual ~Team() = default;

  // May be smaller than was asked for, where the system gives no more threads; 1 at least.
  virtual unsigned size() = 0;
  // Calls work(member) on every member at once; returns when all calls have returned. `work` must
  // not throw.
  virtual void run(FunctionRef<void(unsigned)> work) = 0;
  // One turn of a loop that waits for another member: short at first; from long_turns on it leaves
  // the processor to others, as the other member may have lost its own.
  static constexpr unsigned long_turns = 4000;  // some tens of microseconds
  virtual void pause(unsigned turn) = 0;

  // Returns once all members have called it. What they wrote before, all of them see afterwards.
  void wait_for_all() {
    const std::uint32_t round = round_.load(std::memory_order_relaxed);
    if (waiting_.fetch_add(1, std::memory_order_acq_rel) + 1 == size()) {
      waiting_.store(0, std::memory_order_relaxed);
      round_.store(round + 1, std::memory_order_release);
      return;
    }
    for (unsigned turn = 0; round_.load(std::memory_order_acquire) == round; ++turn) pause(turn);
  }

 private:
  alignas(64) std::atomic<std::uint32_t> waiting_ = 0;
  alignas(64) std::atomic<std::uint32_t> round_ = 0;
};

}  // namespace conclave
