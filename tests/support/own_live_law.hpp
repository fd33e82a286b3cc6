// One leader that carries its own live bullet and has no shield, everything else 0: the bullet goes
// round and kills it, the distances grow to N behind the bullet, and the new leader is final. One
// particular arc is awaited at any time, so the time to S_RL is a sum of N + 1 independent
// Geometric(1/n) variables: the whole law is known at any size.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "conclave/base/statistics.hpp"

#include "tests/support/hitting_law.hpp"
#include "tests/support/prl_definitions.hpp"

namespace conclave::tests {

inline constexpr double rejected_above_sigmas = 4.9;  // the same, two-sided, for a normal variable

inline std::size_t own_live() {
  const auto found = std::ranges::find(Prl::starts, "one-leader-own-live", &Start::name);
  return static_cast<std::size_t>(found - Prl::starts.begin());
}

// The law by chi-square, and once more its mean n(N+1) and variance (N+1)n(n-1).
struct OwnLiveLaw {
  std::uint64_t n;
  std::uint64_t bound;
  std::uint64_t trials;

  double waits() const { return static_cast<double>(bound + 1); }
  double p() const { return 1 / static_cast<double>(n); }
  double mean() const { return waits() / p(); }
  double variance() const { return waits() * (1 - p()) / (p() * p()); }
  double excess_kurtosis() const { return 6 / waits() + p() * p() / ((1 - p()) * waits()); }

  // P(T = t) for t = 0 ... last, by the ratio of neighbours.
  std::vector<double> probabilities(std::uint64_t last) const {
    std::vector<double> all(last + 1, 0.0);
    all[bound + 1] = std::pow(p(), waits());
    for (std::uint64_t t = bound + 1; t < last; ++t) {
      const auto before = static_cast<double>(t);
      all[t + 1] = all[t] * (1 - p()) * before / (before + 1 - waits());
    }
    return all;
  }

  TestResult fit(const std::vector<double>& times) const {
    const auto last = static_cast<std::uint64_t>(mean() + 12 * std::sqrt(variance()));
    std::vector<double> expected = probabilities(last);
    double left = 1;
    for (double& value : expected) {
      left -= value;
      value *= static_cast<double>(times.size());
    }
    expected.push_back(std::max(left, 0.0) * static_cast<double>(times.size()));
    std::vector<double> observed(expected.size(), 0.0);
    for (const double time : times) {
      ++observed[static_cast<std::size_t>(std::min(time, static_cast<double>(last + 1)))];
    }
    const Buckets buckets = pool_buckets(observed, expected);
    return chi_square(buckets.observed, buckets.expected);
  }

  bool fits(const std::vector<double>& times) const {
    const Summary summary = summarize(times);
    const auto count = static_cast<double>(times.size());
    const double mean_error = std::sqrt(variance() / count);
    const double variance_error =
        variance() * std::sqrt(2 / (count - 1) + excess_kurtosis() / count);
    return fit(times).p_value >= rejected_below &&
           std::abs(summary.mean - mean()) <= rejected_above_sigmas * mean_error &&
           std::abs(summary.variance - variance()) <= rejected_above_sigmas * variance_error;
  }

  std::string name() const {
    return "n=" + std::to_string(n) + " N=" + std::to_string(bound) + " seed=1, trials 0 to " +
           std::to_string(trials - 1);
  }
};

inline const std::vector<OwnLiveLaw>& own_live_laws() {
  static const std::vector<OwnLiveLaw> all{{5, 5, 200'000}, {10, 20, 100'000}, {50, 50, 40'000}};
  return all;
}

}  // namespace conclave::tests
