// Chi-square tests of counts, for tests that look at random numbers. Below `reject` a test fails;
// seeds are fixed, so it then fails always.
#pragma once

#include <cstddef>
#include <numeric>
#include <vector>

#include "conclave/base/statistics.hpp"

namespace conclave::tests {

inline constexpr double reject = 1e-6;

// The p-value of counts against weights, which need not be normalized. Cells of weight zero do not
// count.
inline double p_value(const std::vector<double>& counts, const std::vector<double>& weights) {
  const double sum = std::accumulate(counts.begin(), counts.end(), 0.0);
  const double total_weight = std::accumulate(weights.begin(), weights.end(), 0.0);
  Buckets used;
  for (std::size_t cell = 0; cell < counts.size(); ++cell) {
    if (weights[cell] == 0) continue;
    used.observed.push_back(counts[cell]);
    used.expected.push_back(weights[cell] / total_weight * sum);
  }
  return chi_square(used.observed, used.expected).p_value;
}

inline double uniform_p_value(const std::vector<double>& counts) {
  return p_value(counts, std::vector<double>(counts.size(), 1.0));
}

}  // namespace conclave::tests
