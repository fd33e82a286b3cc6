// Schedulers of the directed ring with one mistake each. A test of laws that does not reject them
// is no test.
#pragma once

#include <cstdint>

#include "conclave/base/random.hpp"

namespace conclave::tests::mutants {

// Draws from n - 1 arcs instead of n: never the one that came last.
class NeverTwice {
 public:
  std::uint64_t next(std::uint64_t n, Stream& stream) {
    last_ = (last_ + 1 + stream.below64(n - 1)) % n;
    return last_;
  }

 private:
  std::uint64_t last_ = 0;
};

// Biased: arc 0 comes twice as often as any other.
struct BiasedArc {
  static std::uint64_t next(std::uint64_t n, Stream& stream) { return stream.below64(n + 1) % n; }
};

}  // namespace conclave::tests::mutants
