// Puts the results of shards together.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace conclave::sweep {

struct Merged {
  std::uint64_t rows = 0;
  std::uint64_t missing = 0;  // rows that the plan wants and no file has, as far as is known
};

// Makes `output`, or adds to it. Throws Error if the files are not of one plan and one version, or
// contradict each other; then nothing was changed.
Merged merge(const std::vector<std::string>& inputs, const std::string& output);

}  // namespace conclave::sweep
