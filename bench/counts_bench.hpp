// Speed of the `counts` engine, beside the `agents` engine and the best published simulators, on
// workloads that these are measured with.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/peers.hpp"

namespace conclave::bench {

struct CountsOptions {
  std::vector<std::uint64_t> sizes;    // none: those of the table of peers
  std::vector<std::string> workloads;  // of bench/subjects.hpp; none: all
  unsigned repeats = 3;
  Peers peers{};
};

// Checks first that the engines keep all agents and agree on the census (throws std::logic_error if
// not), then calls `print` with each line of the table.
void run_counts(const CountsOptions& options, const std::function<void(const std::string&)>& print);

}  // namespace conclave::bench
