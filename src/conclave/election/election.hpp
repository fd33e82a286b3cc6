// Leader election between processes, for use in other programs: one `Election` per process. It
// elects with the O(n) messages of Kutten, Moses, Pandurangan and Peleg (2020) and keeps a leader
// through crashes; at most one member at a time may act as the leader. What is guaranteed under
// which assumption is in docs/elections.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace conclave::election {

struct ElectionOptions {
  std::string cluster;               // the same for all members, 1 to 64 of a-z A-Z 0-9 . _ -
  std::uint32_t self = 0;            // this process's position in `members`
  std::vector<std::string> members;  // "host:port" of all, in the same order everywhere
  // The certificate of the cluster's authority, this member's certificate and its key, in PEM; all
  // empty: no security, and only loopback addresses are allowed.
  std::string authority_file{};
  std::string certificate_file{};
  std::string key_file{};
  // Where a promise survives restarts; empty: each start waits one lease before it supports
  // anybody.
  std::string state_file{};
  // Starts an election when it runs; otherwise it waits until another member does.
  bool wakes = true;
  std::chrono::milliseconds lease{3000};  // at least 30; other timeouts are multiples of it
};

// All are called from run().
struct ElectionCallbacks {
  std::function<void(std::uint64_t term)> won{};   // this member may act as the leader now
  std::function<void(std::uint64_t term)> lost{};  // it may no more
  std::function<void(std::uint32_t leader, std::uint64_t term)> follows{};  // another one leads
  std::function<void(std::string_view line)> log{};
};

class Election {
 public:
  // Listens at once. Throws std::runtime_error with one sentence: port in use, bad certificate, ...
  Election(ElectionOptions options, ElectionCallbacks callbacks);
  ~Election();
  Election(const Election&) = delete;
  Election& operator=(const Election&) = delete;

  // Takes part until stop(), then takes its leave. Throws std::runtime_error where a promise cannot
  // be stored.
  void run();
  void stop();  // from any thread or a callback

  // From callbacks only, or while it does not run. Ask before each action as the leader: callbacks
  // may come late. Mark what you do with the term, so that others can refuse what is out of date.
  bool may_act() const;
  std::uint64_t term() const;

 private:
  struct Running;
  std::unique_ptr<Running> running_;
};

}  // namespace conclave::election
