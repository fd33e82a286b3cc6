// How fast a large random chain in explicit files is loaded and solved, beside a bare pass over its
// file and beside the machine's speed for one product of the chain's matrix with a vector; and how
// long chains of other kinds take, with a tenth of the states.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace conclave::bench {

struct ExactOptions {
  std::vector<std::uint64_t> sizes{1'000'000};
  unsigned repeats = 3;
};

// Writes each chain into a temporary folder, which it removes, and calls `print` with each line of
// the table. Throws std::logic_error if the file does not read back as it was written.
void run_exact(const ExactOptions& options, const std::function<void(const std::string&)>& print);

}  // namespace conclave::bench
