#include "conclave/base/sorted_positions.hpp"

#include <algorithm>
#include <numeric>

namespace conclave {

std::vector<std::size_t> sorted_positions(
    std::size_t count, FunctionRef<bool(std::size_t, std::size_t)> comes_before) {
  std::vector<std::size_t> positions(count);
  std::iota(positions.begin(), positions.end(), std::size_t{0});
  std::ranges::stable_sort(positions, comes_before);
  return positions;
}

}  // namespace conclave
