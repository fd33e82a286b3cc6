// Speed of networks of reactions, with the engines that `run --engine auto` uses, beside
// Gillespie's direct method.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace conclave::bench {

struct ReactionsOptions {
  std::vector<std::uint64_t> sizes{10'000, 1'000'000, 100'000'000, 10'000'000'000};
  unsigned repeats = 2;
};

// Checks first that both agree on the mean of a count (throws std::logic_error if not), then calls
// `print` with each line of the table.
void run_reactions(const ReactionsOptions& options,
                   const std::function<void(const std::string&)>& print);

}  // namespace conclave::bench
