// Holds a sampler of hitting times to the exact law. A sampler is any callable that turns the
// number of a trial into the interaction of the hit; engines and mutants go through the same test.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "conclave/base/statistics.hpp"

namespace conclave::tests {

// A sampler whose law is right is rejected with this probability; seeds are fixed, so never twice.
inline constexpr double rejected_below = 1e-6;

template <class S>
concept Sampler = requires(S& sampler, std::uint64_t trial) {
  { sampler(trial) } -> std::same_as<std::uint64_t>;
};

template <Sampler S>
std::vector<double> sorted_sample(S&& sampler, std::uint64_t trials) {
  std::vector<double> times;
  for (std::uint64_t trial = 0; trial < trials; ++trial) {
    times.push_back(static_cast<double>(sampler(trial)));
  }
  std::ranges::sort(times);
  return times;
}

// The chi-square test of a sample against cdf[t] = P(T <= t); later times share one bucket.
inline TestResult fit_of(std::span<const double> times, std::span<const double> cdf,
                         double minimum_expected = 10) {
  const auto trials = static_cast<double>(times.size());
  std::vector<double> observed(cdf.size() + 1, 0.0);
  for (const double time : times) {
    ++observed[static_cast<std::size_t>(std::min(time, static_cast<double>(cdf.size())))];
  }
  std::vector<double> expected;
  double before = 0;
  for (const double now : cdf) {
    expected.push_back(trials * (now - before));
    before = now;
  }
  expected.push_back(trials * (1 - before));
  const Buckets buckets = pool_buckets(observed, expected, minimum_expected);
  return chi_square(buckets.observed, buckets.expected);
}

}  // namespace conclave::tests
