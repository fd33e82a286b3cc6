// How long a sequence of random interactions goes on among agents that have not met anybody yet:
// the length of a batch.
#pragma once

#include <cstdint>

#include "conclave/base/random.hpp"

namespace conclave {

// The number T of interactions among untouched agents before the first that involves one of the
// `used` touched agents: each interaction is an ordered pair of distinct agents, uniform over all
// n(n-1), and touches both. P(T >= t) is the product of (n-used-2i)(n-used-2i-1) / (n(n-1)) over
// i < t. 2 <= n <= 2^62, used <= n. Exact for n < 1024 and where runs are short, used > n/16;
// otherwise by inversion of up to 128 random bits: P(T = t) has a relative error below 2^-50 or an
// absolute one below 2^-127. The same bits on every machine. Expected time O(1).
class CollisionRun {
 public:
  explicit CollisionRun(std::uint64_t n);

  std::uint64_t operator()(std::uint64_t used, Stream& stream) const;

 private:
  std::uint64_t n_;
};

}  // namespace conclave
