// Speed of the `agents` engine beside a raw kernel that draws the same pairs and touches the same
// bytes without any protocol: how far the engine is from what the machine allows.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/peers.hpp"

namespace conclave::bench {

struct AgentsOptions {
  std::vector<std::uint64_t> sizes{10'000, 1'000'000, 100'000'000};
  unsigned repeats = 5;
  Peers peers{};
};

// Checks the engine against a plain loop first (throws std::logic_error if they differ), then calls
// `print` with each line of the table.
void run_agents(const AgentsOptions& options, const std::function<void(const std::string&)>& print);

}  // namespace conclave::bench
