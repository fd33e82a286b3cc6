// How many messages per CPU second the network engine delivers, beside bare bucket queues that
// deliver as many events to as many nodes and do nothing else.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace conclave::bench {

struct NetworkOptions {
  std::vector<std::uint64_t> sizes{10'000, 100'000, 1'000'000};
  unsigned repeats = 3;
};

// Checks the engine first; throws if it is wrong. Hands over the table line by line.
void run_network(const NetworkOptions& options,
                 const std::function<void(const std::string&)>& print);

}  // namespace conclave::bench
