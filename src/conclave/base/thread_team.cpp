#include "conclave/base/thread_team.hpp"

#include <new>
#include <system_error>

namespace conclave {

ThreadTeam::~ThreadTeam() {
  is_ending_ = true;
  call_.fetch_add(1, std::memory_order_release);
  call_.notify_all();
}

unsigned ThreadTeam::size() {
  if (!has_started_) start();
  return wanted_;
}

// Fewer threads are no mistake: they only take longer.
void ThreadTeam::start() {
  has_started_ = true;
  try {
    for (unsigned member = 1; member < wanted_; ++member) {
      threads_.emplace_back([this, member] { serve(member); });
    }
  } catch (const std::system_error&) {
  } catch (const std::bad_alloc&) {
  }
  wanted_ = static_cast<unsigned>(threads_.size()) + 1;
}

void ThreadTeam::run(FunctionRef<void(unsigned)> work) {
  work_ = &work;
  busy_.store(size() - 1, std::memory_order_relaxed);
  call_.fetch_add(1, std::memory_order_release);
  call_.notify_all();
  work(0);
  for (unsigned turn = 0; busy_.load(std::memory_order_acquire) != 0; ++turn) pause(turn);
}

void ThreadTeam::serve(unsigned member) {
  for (std::uint32_t call = 0;; ++call) {
    call_.wait(call, std::memory_order_acquire);
    if (is_ending_) return;
    (*work_)(member);
    busy_.fetch_sub(1, std::memory_order_release);
  }
}

void ThreadTeam::pause(unsigned turn) {
  if (turn >= long_turns) {
    std::this_thread::yield();
  } else {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
  }
}

}  // namespace conclave
