// A process of a member in simulated time: the very Service, Member and PromiseFile that run
// between machines, on a simulated clock, disk and network. Its caller says what happens to it and
// when, by its own clock, and takes what it sends.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "election/service.hpp"
#include "election/surroundings.hpp"

#include "election/tests/support/simulated_disk.hpp"

namespace conclave::election::testing {

class SimulatedSurroundings final : public Surroundings {
 public:
  SimulatedSurroundings(SimulatedDisk& disk, Instant now, std::uint64_t number)
      : disk_(disk), now_(now), number_(number) {}

  Instant now() const override { return now_ + disk_.busy(); }
  std::chrono::system_clock::time_point wall_time() const override {
    return std::chrono::system_clock::time_point(now() + wall_offset_);
  }
  TimerId after(Instant time, std::function<void()> call) override {
    timers_[{now() + time, ++last_}] = std::move(call);
    times_[last_] = now() + time;
    return last_;
  }
  void cancel(TimerId timer) override {
    const auto time = times_.find(timer);
    if (time == times_.end()) return;
    timers_.erase({time->second, timer});
    times_.erase(time);
  }
  void post(std::function<void()> call) override { after(Instant{}, std::move(call)); }
  std::uint64_t unforeseeable_number() override { return number_++; }
  Disk& disk() override { return disk_; }
  std::unique_ptr<Messenger> connect(const TransportOptions&, TransportEvents& events) override {
    events_ = &events;
    return std::make_unique<Connection>(*this);
  }

  void set_time(Instant now) { now_ = now; }
  void set_wall(Instant offset) { wall_offset_ = offset; }
  // Timers do not count while the machine is asleep.
  void sleep(Instant time) {
    decltype(timers_) later;
    for (auto& [key, call] : timers_) {
      times_[key.second] += time;
      later[{key.first + time, key.second}] = std::move(call);
    }
    timers_ = std::move(later);
  }
  Instant deadline() const {
    return timers_.empty() ? Instant::max() : timers_.begin()->first.first;
  }
  // Those that are due now: a process that sets new ones without end is seen to have no rest.
  void run_due() {
    const TimerId newest = last_;
    while (deadline() <= now_) {
      const auto first = timers_.begin();
      if (first->first.second > newest) return;
      const std::function<void()> call = std::move(first->second);
      times_.erase(first->first.second);
      timers_.erase(first);
      call();
    }
  }
  TransportEvents& events() { return *events_; }
  std::vector<OutgoingNote> take_outgoing() { return std::exchange(outgoing_, {}); }

 private:
  class Connection final : public Messenger {
   public:
    explicit Connection(SimulatedSurroundings& around) : around_(around) {}
    bool send(MemberIndex to, std::span<const std::byte> bytes) override {
      around_.outgoing_.push_back({to, decode_note(bytes).value()});
      return true;
    }
    void close(std::function<void()> closed) override { around_.post(std::move(closed)); }
    void reload(const std::optional<Credentials>&, const std::vector<std::string>&) override {}
    void move_member(MemberIndex, Endpoint) override {}
    const TransportCounters& counters() const override { return counters_; }
    std::uint16_t port() const override { return 0; }

   private:
    SimulatedSurroundings& around_;
    TransportCounters counters_;
  };

  SimulatedDisk& disk_;
  Instant now_;
  Instant wall_offset_{};
  std::uint64_t number_;
  TimerId last_ = 0;
  std::map<std::pair<Instant, TimerId>, std::function<void()>> timers_;
  std::map<TimerId, Instant> times_;
  TransportEvents* events_ = nullptr;
  std::vector<OutgoingNote> outgoing_;
};

class SimulatedProcess {
 public:
  // Throws Error where the state file is refused or the disk is full, PowerLoss.
  SimulatedProcess(const ServiceOptions& options, SimulatedDisk& disk, Instant now,
                   std::uint64_t number)
      : SimulatedProcess(std::make_unique<SimulatedSurroundings>(disk, now, number), options) {}

  void wake(Instant now) { at(now).wake(); }
  void receive(Instant now, MemberIndex from, const Note& note) {
    at(now);
    around_->events().on_message(from, encode(note));
  }
  void lose(Instant now, MemberIndex peer) {
    at(now);
    around_->events().on_unreachable(peer, "it does not answer");
  }
  void set_wall(Instant offset) { around_->set_wall(offset); }  // beyond its steady clock
  void reload(const Credentials& credentials) { service_.reload(credentials, {}); }
  std::vector<std::string> take_warnings() { return std::exchange(warnings_, {}); }
  void resign(Instant now) { at(now).resign(); }
  std::string request(Instant now, const Change& change) { return at(now).change(change); }
  void pass(Instant now) {
    at(now);
    around_->run_due();
  }
  void sleep(Instant time) { around_->sleep(time); }
  Instant deadline() const { return around_->deadline(); }
  std::vector<OutgoingNote> take_outgoing() { return around_->take_outgoing(); }

  MemberView view() const { return service_.view(); }
  const Member& member() const { return service_.member(); }
  const Configuration& configuration() const { return service_.configuration(); }
  bool holds_lease(Instant now) const { return service_.lease().holds(now); }
  Instant lease_until() const { return service_.lease().until; }
  const NoteCounts& sent() const { return service_.sent(); }
  bool has_failed() const { return has_failed_; }  // its disk has

 private:
  SimulatedProcess(std::unique_ptr<SimulatedSurroundings> around, const ServiceOptions& options)
      : around_(around.get()),
        service_(std::move(around), options,
                 {.warn = [this](std::string_view line) { warnings_.emplace_back(line); },
                  .failed = [this](const std::exception&) { has_failed_ = true; }}) {}

  Service& at(Instant now) {
    around_->set_time(now);
    return service_;
  }

  SimulatedSurroundings* around_;
  bool has_failed_ = false;
  std::vector<std::string> warnings_;
  Service service_;
};

}  // namespace conclave::election::testing
