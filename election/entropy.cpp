#include "election/entropy.hpp"

#include <sys/random.h>

#include "conclave/base/check.hpp"

namespace conclave::election {

std::uint64_t unforeseeable_number() {
  std::uint64_t number = 0;
  // At most 256 bytes are never cut short, says getrandom(2), once the system has started.
  CONCLAVE_CHECK(getrandom(&number, sizeof number, 0) == sizeof number);
  return number;
}

}  // namespace conclave::election
