// One election between n processes of this machine: forks them, lets them begin together, collects
// what each has seen.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "election/certificates.hpp"
#include "election/member.hpp"

namespace conclave::cli {

struct LocalClusterOptions {
  election::MemberIndex n = 1;
  bool wakes_all = true;  // otherwise member 0 alone is woken
  std::optional<std::uint64_t> seed{};
  std::vector<election::Credentials> credentials{};  // one per member; none: plain
  std::chrono::seconds timeout{120};
};

// The final report of a process. Trivially copyable, since it goes through a pipe.
struct ProcessReport {
  enum class Stage : std::uint8_t { ready, decided, left, failed };
  Stage stage = Stage::ready;
  election::MemberIndex member = 0;
  election::MemberIndex leader = election::nobody;
  bool leads = false;
  election::Term term = 0;
  election::NoteCounts sent{};
  std::uint64_t bytes = 0;
  std::uint64_t connections = 0;  // opened
  char failure[256] = {};
};

struct LocalElection {
  std::vector<ProcessReport> reports;  // by member
  double start_seconds = 0;            // until all processes listen
  double seconds = 0;                  // from then until all know the leader
  std::string failure{};               // empty: all know one
};

// Throws Error; what goes wrong in the processes is in the result. `stop` ends it early.
LocalElection elect_locally(const LocalClusterOptions& options, const std::atomic<bool>& stop);

}  // namespace conclave::cli
