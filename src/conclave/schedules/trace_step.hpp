// A step of a counterexample in words: what happens, and what comes of it.
#pragma once

#include <string>
#include <vector>

namespace conclave::schedules {

struct TraceStep {
  std::string title;
  std::vector<std::string> details{};
};

}  // namespace conclave::schedules
