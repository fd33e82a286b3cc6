// Running another program without a shell.
#pragma once

#include <string>
#include <vector>

namespace conclave::plot::detail {

struct ProcessResult {
  bool has_started = false;
  int status = 0;        // as in a shell: what it returned, or 128 and the signal that ended it
  std::string output{};  // what it wrote to its standard output
  std::string errors{};  // the beginning of what it wrote to its standard error
};

// Finds words[0] in PATH, hands over the words as they are, runs it in `folder` with nothing to
// read, and waits for its end. Throws std::system_error if the system has no descriptors or
// processes left.
ProcessResult run_process(const std::vector<std::string>& words, const std::string& folder);

}  // namespace conclave::plot::detail
