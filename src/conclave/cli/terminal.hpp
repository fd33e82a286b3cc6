// What the command line shares: text on the terminal, numbers from options, the interrupt key.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conclave/experiment/option_values.hpp"

namespace conclave::cli {

bool error_is_terminal();

// The values of options; see there.
using experiment::count_option;
using experiment::count_option_64;
using experiment::param_options;
using experiment::real_option;

// Breaks text at spaces so that no line is longer than `width`; lines after the first are indented.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent);

// Becomes true at the first SIGINT or SIGTERM; a second one ends the process at once.
const std::atomic<bool>& interrupted_flag();

// From now on, and until interrupted_flag() is called, SIGINT or SIGTERM ends the process at once
// with status 130: for long computations that have nothing to keep.
void exit_when_interrupted();

}  // namespace conclave::cli
