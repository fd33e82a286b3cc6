// Everything around a Service: time, timers, randomness, a disk and messages to other members.
// Real ones stand on a Loop; tests have others, in which whole clusters live in simulated time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "election/disk.hpp"
#include "election/loop.hpp"
#include "election/member.hpp"
#include "election/transport.hpp"

namespace conclave::election {

class Surroundings {
 public:
  using TimerId = Loop::TimerId;  // 0 is none

  virtual ~Surroundings() = default;
  // Counts on while the machine is asleep. Thread-safe.
  virtual Instant now() const = 0;
  // May be set by hand: for certificates only.
  virtual std::chrono::system_clock::time_point wall_time() const {
    return std::chrono::system_clock::now();
  }
  virtual TimerId after(Instant time, std::function<void()> call) = 0;
  virtual void cancel(TimerId timer) = 0;
  virtual void post(std::function<void()> call) = 0;  // after the current callback
  virtual std::uint64_t unforeseeable_number() = 0;
  virtual Disk& disk() = 0;
  // Listens at once. Throws Error.
  virtual std::unique_ptr<Messenger> connect(const TransportOptions& options,
                                             TransportEvents& events) = 0;
};

Instant local_time();  // the `now` of surroundings on a loop

}  // namespace conclave::election
