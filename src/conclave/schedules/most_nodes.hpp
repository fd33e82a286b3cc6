// The size of networks whose schedules can be walked through.
#pragma once

#include <cstddef>

namespace conclave::schedules {

inline constexpr std::size_t most_nodes = 6;

}  // namespace conclave::schedules
