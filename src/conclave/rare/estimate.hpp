// From independent repetitions to an estimate of a rate, its interval, and what is suspicious about
// it. Everything is in logarithms, since times overflow a double. Only basic arithmetic: equal
// repetitions give equal bits on every machine.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "conclave/model/rare.hpp"

namespace conclave::rare {

// ln of an expected time, 1 / (mean rate), with its 95 % interval. With r the relative standard
// error of the mean rate and t the quantile of Student's law, the interval is -+ t r around the
// logarithm. Infinite where no repetition saw a failure.
struct Time {
  double ln_time = 0;
  double ln_low = 0;
  double ln_high = 0;
};

struct Estimate {
  Time time{};
  std::uint64_t repetitions = 0;
  std::uint64_t zeros = 0;    // repetitions that saw no failure; they count in the mean
  double sd_ln_rate = 0;      // standard deviation of ln rate over the others
  double relative_error = 0;  // r
  std::uint64_t levels = 0;   // 0: sampled without levels
  double last_factor = 1;     // mean share of the paths that fail from the last level
  double least_factor = 1;    // mean share at the level that fewest pass
  double ancestors = 0;       // mean number of distinct entrances to level 1 among the failures
  double interactions = 0;    // of all repetitions
  std::uint64_t configurations = 0;     // of the chain that was solved; 0: sampled
  std::vector<std::string> warnings{};  // one sentence each
};

// The mean of the rates is what is unbiased, so it is averaged and then inverted; zeros included.
// Needs two repetitions at least; with fewer the interval is all of the reals.
Estimate estimate_of(std::span<const RareRepetition> repetitions);

// The time until the first failure of any way, from the estimates of some ways and, for the others,
// lower bounds on ln of their times. The time, and the lower end of its interval, take these ways
// to be as frequent as the bounds allow, the upper end to be impossible.
Time time_of_all(std::span<const Estimate> ways, std::span<const double> ln_floors = {});

// Whether the intervals have a point in common.
bool overlap(const Time& a, const Time& b);

// The 97.5 % quantile of Student's law, to five digits.
double student_quantile(std::uint64_t degrees);

}  // namespace conclave::rare
