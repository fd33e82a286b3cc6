#include "conclave/base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace conclave::detail {

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "conclave: internal check failed: %s (%s:%d)\n", condition, file, line);
  std::abort();
}

}  // namespace conclave::detail
