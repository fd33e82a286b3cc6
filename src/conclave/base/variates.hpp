// Random counts: of marked agents among those drawn without replacement (hypergeometric), which is
// how an engine that knows only how many agents are in each state lets a batch of them interact; of
// successes in independent trials (binomial); of points of a Poisson process in a stretch of time.
#pragma once

#include <cstdint>

#include "conclave/base/random.hpp"

namespace conclave {

// How many of `draws` agents drawn without replacement from `total` are among the `marked`; marked
// and draws are at most total, total at most 2^62. Expected time O(1). Few draws are carried out
// one by one, exactly; otherwise each probability has a relative error of at most 2^-45, or 2^-42
// where it is tiny, or an absolute one of 2^-62, whatever the size of the arguments
// (docs/explanation/randomness.md). The same bits on every machine.
std::uint64_t hypergeometric(std::uint64_t total, std::uint64_t marked, std::uint64_t draws,
                             Stream& stream);

// How many of `trials` succeed, each with probability numerator/denominator. numerator <=
// denominator, denominator > 0; trials and denominator are at most 2^62. Expected time O(1);
// as exact as hypergeometric. The same bits on every machine.
std::uint64_t binomial(std::uint64_t trials, std::uint64_t numerator, std::uint64_t denominator,
                       Stream& stream);

// A Poisson variate of this mean, 0 <= mean <= 2^61; anything else is a failed check. The law is
// that of exactly this double, as exact as binomial's (randomness.md). Expected time O(1). The
// same bits on every machine.
std::uint64_t poisson(double mean, Stream& stream);

}  // namespace conclave
