#include "election/surroundings.hpp"

#include <time.h>

#include <utility>

#include "election/service.hpp"
#include "election/system.hpp"

namespace conclave::election {
namespace {

class OnLoop final : public Surroundings {
 public:
  explicit OnLoop(Loop& loop) : loop_(loop) {}

  Instant now() const override { return local_time(); }
  TimerId after(Instant time, std::function<void()> call) override {
    return loop_.after(time, std::move(call));
  }
  void cancel(TimerId timer) override { loop_.cancel(timer); }
  void post(std::function<void()> call) override { loop_.post(std::move(call)); }
  std::uint64_t unforeseeable_number() override { return election::unforeseeable_number(); }
  Disk& disk() override { return posix_disk(); }
  std::unique_ptr<Messenger> connect(const TransportOptions& options,
                                     TransportEvents& events) override {
    return std::make_unique<Transport>(loop_, options, events);
  }

 private:
  Loop& loop_;
};

}  // namespace

Service::Service(Loop& loop, ServiceOptions options, Callbacks callbacks)
    : Service(std::make_unique<OnLoop>(loop), std::move(options), std::move(callbacks)) {}

Instant local_time() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

}  // namespace conclave::election
