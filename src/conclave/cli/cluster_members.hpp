// The commands below `conclave cluster` that are about its members.
#pragma once

#include <cstdint>

#include "conclave/cli/command.hpp"

namespace conclave::cli {

inline constexpr std::uint64_t most_processes = 2000;  // of a cluster, on one machine or many

// Adds `init`, `add`, `remove` and `repair`.
void add_cluster_members(Command& cluster);

}  // namespace conclave::cli
