#include "election/loop.hpp"

#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <unordered_map>
#include <utility>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>

namespace conclave::election {

struct Loop::Native {
  asio::io_context context{1};  // one thread
  std::unordered_map<TimerId, asio::steady_timer> timers;
  TimerId last_timer = 0;
};

Loop::Loop() : native_(std::make_unique<Native>()) {}
Loop::~Loop() = default;

void Loop::run() {
  native_->context.restart();
  native_->context.run();
}

void Loop::run_for(Clock::duration time) {
  native_->context.restart();
  native_->context.run_for(time);
}

void Loop::stop() { native_->context.stop(); }

void Loop::post(std::function<void()> call) { asio::post(native_->context, std::move(call)); }

Loop::TimerId Loop::after(Clock::duration time, std::function<void()> call) {
  const TimerId id = ++native_->last_timer;
  auto& timer = native_->timers.emplace(id, native_->context).first->second;
  timer.expires_after(time);
  timer.async_wait([native = native_.get(), id, call = std::move(call)](const auto& error) {
    if (error) return;                          // cancelled, or the loop is being destroyed
    if (native->timers.erase(id) == 1) call();  // cancelled when it had already expired: 0
  });
  return id;
}

void Loop::cancel(TimerId timer) { native_->timers.erase(timer); }

void Loop::when_readable(int descriptor, std::function<void()> call) {
  using Watched = asio::posix::stream_descriptor;
  const int copy = ::dup(descriptor);
  if (copy < 0)
    throw std::system_error(errno, std::generic_category(), "cannot watch a descriptor");
  auto watched = std::make_shared<Watched>(native_->context, copy);
  watched->async_wait(Watched::wait_read, [watched, call = std::move(call)](const auto& error) {
    if (!error) call();
  });
}

asio::io_context& Loop::context() { return native_->context; }

}  // namespace conclave::election
