// Pearson's test that two rows of counts come from one law.
#pragma once

#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "conclave/base/check.hpp"
#include "conclave/base/statistics.hpp"

namespace conclave {

// Buckets empty in both rows do not count; with a single bucket left there is nothing to tell apart
// and the p-value is 1. Both rows are one test against what their sum makes one expect of each:
// every bucket's share is fitted, and the total of each row.
inline TestResult chi_square_two_sample(std::span<const double> counts_a,
                                        std::span<const double> counts_b) {
  CONCLAVE_CHECK(counts_a.size() == counts_b.size());
  const double total_a = std::accumulate(counts_a.begin(), counts_a.end(), 0.0);
  const double total_b = std::accumulate(counts_b.begin(), counts_b.end(), 0.0);
  CONCLAVE_CHECK(total_a > 0 && total_b > 0);
  std::vector<double> observed;
  std::vector<double> expected;
  for (std::size_t i = 0; i < counts_a.size(); ++i) {
    const double both = counts_a[i] + counts_b[i];
    if (both == 0) continue;
    observed.insert(observed.end(), {counts_a[i], counts_b[i]});
    expected.insert(expected.end(), {both * total_a / (total_a + total_b),  //
                                     both * total_b / (total_a + total_b)});
  }
  const std::size_t buckets = observed.size() / 2;
  return buckets == 1 ? TestResult{} : chi_square(observed, expected, buckets);
}

}  // namespace conclave
