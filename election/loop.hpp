// The event loop of a process: one thread, timers and whatever sockets live on it. Hides Asio, so
// that its users compile without it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

namespace asio {
class io_context;
}

namespace conclave::election {

// post() and stop() may be called from any thread, everything else from the one that calls run().
// Callbacks come from run() and may throw through it.
class Loop {
 public:
  using Clock = std::chrono::steady_clock;
  using TimerId = std::uint64_t;  // 0 is none

  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void run();                          // until stop() or until nothing is left to wait for
  void run_for(Clock::duration time);  // the same, for at most this long
  void stop();                         // after the current callback

  void post(std::function<void()> call);  // after the current callback
  // Once, no earlier than after this time. The callback may be cancelled until it begins.
  TimerId after(Clock::duration time, std::function<void()> call);
  void cancel(TimerId timer);  // one that has fired already, or none: no harm
  // Once, when the descriptor can be read or its writers are gone. It stays the caller's, who may
  // close it. Throws std::system_error.
  void when_readable(int descriptor, std::function<void()> call);

  asio::io_context& context();  // for those who need more

 private:
  struct Native;
  std::unique_ptr<Native> native_;
};

}  // namespace conclave::election
