// Waiting times: how many trials until the first success, when each succeeds with probability
// successes/total. This is how an engine jumps over interactions that change nothing.
#pragma once

#include <cstdint>

#include "conclave/base/interactions.hpp"
#include "conclave/base/random.hpp"

namespace conclave {

// The number of trials up to and including the first success, at least 1. 0 < successes <= total <=
// 2^124; anything else is a failed check. Only basic arithmetic is used, so the result has the same
// bits on every machine. Exact for probabilities of 1/4 and more; below, the rate of decay has a
// relative error of at most 2^-50, the density of the exponential variate behind it one of 2^-45,
// and borders between waits are off by 2^-20 of a trial at most (randomness.md). Expected time
// O(1). A wait that does not fit into 128 bits becomes the largest count.
class Geometric {
 public:
  Geometric() = default;
  // O(1), apart from the draws.
  Geometric(Interactions successes, Interactions total);

  Interactions operator()(Stream& stream) const {
    if (digits_ == 0) return try_one_by_one(stream);
    return jump(stream);
  }

 private:
  Interactions try_one_by_one(Stream& stream) const;
  Interactions jump(Stream& stream) const;

  static constexpr int finely_from_ = 64 + 53 - 32;  // where the mean reaches 2^32

  // A jump is an exponential variate times digits_ * 2^-shift_, rounded down, plus one.
  std::uint64_t digits_ = 0;
  int shift_ = 0;
  Interactions successes_;
  Interactions total_;
};

// Uniform on 0 ... bound-1, exactly, for bounds beyond 64 bits.
Interactions below128(Stream& stream, Interactions bound);

}  // namespace conclave
