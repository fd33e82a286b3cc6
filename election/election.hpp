// Leader election between processes, for use in other programs: one `Election` per process. It
// elects with the O(n) messages of Kutten, Moses, Pandurangan and Peleg (2020) and keeps a leader
// through crashes; at most one member at a time may act as the leader. What is guaranteed under
// which assumption is in docs/how-to/elections.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace conclave::election {

struct ElectionOptions {
  std::string cluster;               // the same for all members, 1 to 64 of a-z A-Z 0-9 . _ -
  std::uint32_t self = 0;            // this process's position in `members`
  std::vector<std::string> members;  // "host:port" of all, in the same order everywhere
  std::string listen{};              // "host:port", if it is not this one's address in the list
  // The certificate of the cluster's authority, this member's certificate and its key, in PEM; all
  // empty: no security, and only loopback addresses are allowed.
  std::string authority_file{};
  std::string certificate_file{};
  std::string key_file{};
  // The member's memory. A file that is missing, or was moved, copied or put back, is recovered
  // from a majority of the other members before this one takes part. Empty: none; then a restart
  // may lead in a term in which this member has led before, and one process at a time is assumed.
  std::string state_file{};
  // This cluster has never run: writes the first state file, where there is none. True for the
  // first start of each founder and never again, since a lost file looks the same.
  bool founds = false;
  // Starts an election when it runs; otherwise it waits until another member does.
  bool wakes = true;
  std::chrono::milliseconds lease{3000};  // at least 30; other timeouts are multiples of it
};

// All are called from run(), in its thread. They must not throw, and while one runs nothing else of
// this member happens: work that takes longer than a fraction of the lease belongs into a thread of
// its own, which asks token() before each step.
struct ElectionCallbacks {
  // This member may act as the leader now. The token is the term: later leaders have larger ones,
  // as long as state files survive, so whoever is acted upon can refuse a token smaller than the
  // largest it has seen. A process that was stopped between asking and acting is caught by this and
  // by nothing else.
  std::function<void(std::uint64_t token)> won{};
  // It may no more. In a handover this comes before any other member can lead.
  std::function<void(std::uint64_t token)> lost{};
  std::function<void(std::uint32_t leader, std::uint64_t term)> follows{};  // another one leads
  std::function<void(std::string_view line)> log{};
};

class Election {
 public:
  // Listens at once. Throws std::runtime_error with one sentence: port in use, bad certificate, ...
  Election(const ElectionOptions& options, ElectionCallbacks callbacks);
  ~Election();
  Election(const Election&) = delete;
  Election& operator=(const Election&) = delete;

  // Takes part until stop() or retire(), then takes its leave. Throws std::runtime_error if a
  // promise cannot be stored.
  void run();
  // These three from any thread, or a callback; they return at once.
  void stop();    // leaves; if it led, the others elect when its lease is over
  void resign();  // hands leadership over, if it leads, and stays as a follower
  void retire();  // hands over, then leaves: for a program that is about to exit

  // From any thread, at any time, never blocking on the election: each compares the lease with the
  // clock at the moment of the call, so the answer is right even where the loop is late. The margin
  // for clocks that drift has been taken off already. Ask before each action as the leader.
  bool may_act() const;
  // The token to mark an action with; empty: it may not act now.
  std::optional<std::uint64_t> token() const;
  std::chrono::milliseconds lease_left() const;  // rounded down; 0 unless it may act
  std::uint64_t term() const;                    // in which it takes part, as leader or not

 private:
  struct Running;
  std::unique_ptr<Running> running_;
};

}  // namespace conclave::election
