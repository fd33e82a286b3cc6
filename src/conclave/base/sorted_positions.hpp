// Sorting of things that only the caller can compare or move, compiled once for all of them.
#pragma once

#include <cstddef>
#include <vector>

#include "conclave/base/function_ref.hpp"

namespace conclave {

// The positions 0 ... count-1 in the order that `comes_before` gives the things there; things that
// neither comes before the other stay in the order of their positions. O(count log count).
std::vector<std::size_t> sorted_positions(std::size_t count,
                                          FunctionRef<bool(std::size_t, std::size_t)> comes_before);

}  // namespace conclave
