// The median of measurements, which noise spoils less than their mean.
#pragma once

#include <algorithm>
#include <vector>

namespace conclave::bench {

// There must be at least one; of an even number, the larger of the two in the middle.
inline double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace conclave::bench
