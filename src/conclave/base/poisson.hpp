// The number of points of a Poisson process in a stretch of time.
#pragma once

#include <cstdint>

#include "conclave/base/random.hpp"

namespace conclave {

// A Poisson variate of this mean, 0 <= mean <= 2^61; anything else is a failed check. The law is
// that of exactly this double, as exact as binomial's (randomness.md). Expected time O(1). The
// same bits on every machine.
std::uint64_t poisson(double mean, Stream& stream);

}  // namespace conclave
