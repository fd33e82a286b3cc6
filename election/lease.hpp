// The lease of a member, for queries from other threads. The loop's thread writes it, before any
// note that follows from the change leaves the process; whoever asks compares it with the clock at
// that moment, so an answer is right also while the loop is late or has been stopped.
#pragma once

#include <mutex>

#include "election/member.hpp"

namespace conclave::election {

// A term and how long its leader may act, by the clock of Service::local_time().
struct Lease {
  Term term = 0;
  Instant until{};  // 0: this member does not lead

  bool holds(Instant now) const { return now < until; }
};

// Any thread may call everything. A lock, because term and end must belong together; it is held for
// the time of a copy.
class SharedLease {
 public:
  void set(const Lease& lease) {
    const std::lock_guard lock(mutex_);
    lease_ = lease;
  }
  Lease get() const {
    const std::lock_guard lock(mutex_);
    return lease_;
  }

 private:
  mutable std::mutex mutex_;
  Lease lease_;
};

}  // namespace conclave::election
