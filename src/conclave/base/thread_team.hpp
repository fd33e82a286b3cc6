// The team whose members are threads of this process.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "conclave/base/function_ref.hpp"
#include "conclave/base/team.hpp"

namespace conclave {

// Starts its threads when it is first used, and joins them at its end. Between two calls of `run`
// they sleep.
class ThreadTeam final : public Team {
 public:
  explicit ThreadTeam(unsigned size) : wanted_(size) {}
  ~ThreadTeam() override;
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  // Whether `run` has been called, by any thread.
  bool has_worked() const { return call_.load(std::memory_order_relaxed) != 0; }
  unsigned size() override;
  void run(FunctionRef<void(unsigned)> work) override;
  void pause(unsigned turn) override;

 private:
  void serve(unsigned member);
  void start();

  unsigned wanted_;  // threads, the caller's included; what there are once they have been started
  bool has_started_ = false;
  std::vector<std::jthread> threads_;
  const FunctionRef<void(unsigned)>* work_ = nullptr;
  bool is_ending_ = false;
  std::atomic<std::uint32_t> call_ = 0;  // its number; announces `work_` and `is_ending_`
  std::atomic<std::uint32_t> busy_ = 0;  // members that have not returned from it
};

}  // namespace conclave
