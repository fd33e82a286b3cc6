// Reads the values of `--fault WHAT@TIME` and of the grid of a trace.
#pragma once

#include <string>

#include "conclave/model/fault.hpp"
#include "conclave/model/trace.hpp"

namespace conclave::experiment {

// "corrupt:50%@200", "kill-leaders@convergence+10"; throws Error with one sentence.
Fault parse_fault(const std::string& text);

// "log", "log:1.5", "linear:0.5"; throws Error with one sentence.
TraceGrid parse_grid(const std::string& text);

}  // namespace conclave::experiment
