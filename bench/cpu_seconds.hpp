// The clock of the benchmarks.
#pragma once

#include <ctime>

namespace conclave::bench {

// Processor time that the calling thread has used so far, in seconds.
inline double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace conclave::bench
