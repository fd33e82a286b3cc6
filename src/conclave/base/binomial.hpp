// The number of successes in independent trials.
#pragma once

#include <cstdint>

#include "conclave/base/random.hpp"

namespace conclave {

// How many of `trials` succeed, each with probability numerator/denominator; trials, numerator <=
// denominator, denominator > 0, both at most 2^62. Expected time O(1); exactness as for
// hypergeometric.hpp. Basic arithmetic only: the same bits on every machine.
std::uint64_t binomial(std::uint64_t trials, std::uint64_t numerator, std::uint64_t denominator,
                       Stream& stream);

}  // namespace conclave
