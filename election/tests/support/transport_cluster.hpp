// Members of a cluster in one process, on one loop and loopback sockets, for tests: what each one
// has received from whom, and what it was told.
#pragma once

#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "election/transport.hpp"

#include "election/tests/support/loopback.hpp"

namespace conclave::election::testing {

using namespace std::chrono_literals;

inline std::vector<std::byte> bytes_of(std::string_view text) {
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}
inline std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// One authority and credentials are enough for all tests of a program.
struct Certified {
  std::string cluster;
  Authority authority = make_authority(cluster, valid_for(std::chrono::days{1}));

  Credentials member(MemberIndex index) const {
    return issue_credentials(authority, {cluster, index}, valid_for(std::chrono::days{1}));
  }
};

struct Member final : TransportEvents {
  explicit Member(MemberIndex members) : from(members) {}

  void on_message(MemberIndex sender, std::span<const std::byte> bytes) override {
    from[sender].push_back(text_of(bytes));
    ++received;
    if (reaction) reaction(sender, from[sender].back());
  }
  void on_unreachable(MemberIndex peer, std::string_view why) override {
    unreachable.emplace_back(why);
    if (on_loss) on_loss(peer);
  }
  void on_restarted(MemberIndex) override { ++restarts; }
  void on_disconnected(MemberIndex, std::string_view) override { ++disconnects; }
  void on_log(std::string_view line) override { log.append(line).append("\n"); }

  bool send(MemberIndex to, std::string_view text) const {
    return transport->send(to, bytes_of(text));
  }
  const TransportCounters& counters() const { return transport->counters(); }
  std::uint64_t refusals(Refusal kind) const {
    return counters().refusals[static_cast<std::size_t>(kind)];
  }

  std::vector<std::vector<std::string>> from;
  std::function<void(MemberIndex, const std::string&)> reaction;
  std::function<void(MemberIndex)> on_loss;
  std::size_t received = 0;
  int restarts = 0, disconnects = 0;
  std::vector<std::string> unreachable;
  std::string log;
  std::unique_ptr<Transport> transport;  // the last member: destroyed first
};

struct Cluster {
  explicit Cluster(MemberIndex members, const TransportLimits& some_limits = {},
                   const Certified* some_certificates = nullptr)
      : limits(some_limits), certificates(some_certificates), ports(members, 0), issued(members) {
    for (MemberIndex i = 0; i < members; ++i) all.push_back(std::make_unique<Member>(members));
    for (MemberIndex i = 0; i < members; ++i) start(i);
  }

  // At the port it had, if it was there before.
  void start(MemberIndex index) {
    TransportOptions options{.cluster = "test", .self = index, .limits = limits};
    for (const std::uint16_t port : ports) options.members.push_back({"127.0.0.1", port});
    if (certificates != nullptr) options.credentials = issued[index] = certificates->member(index);
    all[index]->transport = std::make_unique<Transport>(loop, std::move(options), *all[index]);
    ports[index] = all[index]->transport->port();
    for (const auto& member : all)
      if (member->transport) member->transport->move_member(index, {"127.0.0.1", ports[index]});
  }
  void stop(MemberIndex index) {
    all[index]->transport.reset();
    held.push_back(std::make_unique<HeldPort>(ports[index]));
  }

  Member& operator[](MemberIndex index) { return *all[index]; }

  // Runs until it is so; false: it is not, after the time given. Machines may be very busy.
  bool run_until(const std::function<bool()>& is_so, Loop::Clock::duration time = 60s) {
    const auto end = Loop::Clock::now() + time;
    while (!is_so() && Loop::Clock::now() < end) loop.run_for(2ms);
    return is_so();
  }
  bool run_until_idle() {
    return run_until([this] {
      for (const auto& member : all)
        if (member->transport && member->transport->pending() > 0) return false;
      return true;
    });
  }

  Loop loop;
  TransportLimits limits;
  const Certified* certificates;
  std::vector<std::uint16_t> ports;
  std::vector<std::unique_ptr<HeldPort>> held;  // of members that were stopped
  std::vector<Credentials> issued;              // to each member, last
  std::vector<std::unique_ptr<Member>> all;
};

}  // namespace conclave::election::testing
