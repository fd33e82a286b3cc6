// The exact law of Fratricide's stabilization time, from its closed form alone.
#pragma once

#include <cstddef>
#include <vector>

#include "conclave/model/population.hpp"

namespace conclave::tests {

// P(T <= t) for t = 0 ... limit, where T is the sum over j = n ... 2 of independent geometric times
// with parameters j(j-1) / (n(n-1)). O(n limit).
inline std::vector<double> fratricide_distribution(AgentCount n, std::size_t limit) {
  const double all_pairs = static_cast<double>(n) * static_cast<double>(n - 1);
  std::vector<double> leaders(n + 1, 0.0);  // P(j leaders now)
  leaders[n] = 1;
  std::vector<double> cdf{leaders[1]};
  while (cdf.size() <= limit) {
    for (std::size_t j = 2; j <= n; ++j) {
      const double lost = leaders[j] * static_cast<double>(j * (j - 1)) / all_pairs;
      leaders[j - 1] += lost;
      leaders[j] -= lost;
    }
    cdf.push_back(leaders[1]);
  }
  return cdf;
}

}  // namespace conclave::tests
