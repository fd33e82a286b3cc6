// Reads the values of `--fault WHAT@TIME`, and of --trace-grid and --every: when trials are
// sampled.
#pragma once

#include <string>

#include "conclave/base/interactions.hpp"
#include "conclave/model/fault.hpp"
#include "conclave/model/trace.hpp"

namespace conclave::experiment {

// "corrupt:50%@200", "kill-leaders@convergence+10"; throws Error with one sentence.
Fault parse_fault(const std::string& text);

// "log", "log:1.5", "linear:0.5"; throws Error with one sentence.
TraceGrid parse_grid(const std::string& text);
// The grid of all multiples of a parallel time in a population of n: no finer than interactions.
// Throws Error.
TraceGrid grid_of(const std::string& every, Interactions n);

}  // namespace conclave::experiment
