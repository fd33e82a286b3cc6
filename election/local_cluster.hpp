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

namespace conclave::election {

struct LocalClusterOptions {
  MemberIndex n = 1;
  bool wakes_all = true;  // otherwise member 0 alone is woken
  std::optional<std::uint64_t> seed{};
  std::vector<Credentials> credentials{};  // one per member; none: plain
  std::chrono::seconds timeout{120};
};

// The final report of a process. Trivially copyable, since it goes through a pipe.
struct ProcessReport {
  enum class Stage : std::uint8_t { ready, decided, left, failed };
  Stage stage = Stage::ready;
  MemberIndex member = 0;
  MemberIndex leader = nobody;
  bool leads = false;
  Term term = 0;
  NoteCounts sent{};
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

// Certificates for n members of a local cluster, valid for a day, of an authority that nobody
// keeps.
std::vector<Credentials> local_credentials(MemberIndex n);

// Forks, so no other thread may run. Blocks until all processes have ended. Throws Error if they
// cannot be started; what goes wrong in them is in the result. `stop` ends it early.
LocalElection elect_locally(const LocalClusterOptions& options, const std::atomic<bool>& stop);

}  // namespace conclave::election
