// One step of a counterexample in words.
#pragma once

#include <string>
#include <vector>

namespace conclave::schedules {

struct TraceStep {
  std::string title;                   // what happens, in one line
  std::vector<std::string> details{};  // what follows from it, such as messages sent
};

}  // namespace conclave::schedules
