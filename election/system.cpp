#include "election/system.hpp"

#include <sys/random.h>
#include <time.h>

#include <fmt/format.h>

#include "conclave/base/check.hpp"

namespace conclave::election {

std::uint64_t unforeseeable_number() {
  std::uint64_t number = 0;
  // At most 256 bytes are never cut short, says getrandom(2), once the system has started.
  CONCLAVE_CHECK(getrandom(&number, sizeof number, 0) == sizeof number);
  return number;
}

std::string wall_clock_text() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  tm parts{};
  ::gmtime_r(&now.tv_sec, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     now.tv_nsec / 1'000'000);
}

}  // namespace conclave::election
