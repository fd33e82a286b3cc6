// Speed and memory of electleader over r, and the whole runs that its goals are about.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace conclave::bench {

struct ElectLeaderOptions {
  std::vector<std::uint64_t> sizes{128, 1000};
};

// Checks the fast representation of messages against the dense one first (throws std::logic_error
// if they differ), then calls `print` with each line of the tables.
void run_electleader(const ElectLeaderOptions& options,
                     const std::function<void(const std::string&)>& print);

}  // namespace conclave::bench
