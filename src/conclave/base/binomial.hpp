// The number of successes in independent trials.
#pragma once

#include <cstdint>

#include "conclave/base/random.hpp"

namespace conclave {

// How many of `trials` succeed, each with probability numerator/denominator. numerator <=
// denominator, denominator > 0; trials and denominator are at most 2^62. Expected time O(1);
// as exact as hypergeometric. The same bits on every machine.
std::uint64_t binomial(std::uint64_t trials, std::uint64_t numerator, std::uint64_t denominator,
                       Stream& stream);

}  // namespace conclave
