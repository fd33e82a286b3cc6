// A picture of one run of a message-passing protocol: a horizontal line per node, an arrow per
// message coloured by its type, and marks where a candidate enters a phase, retires or is elected.
#pragma once

#include <string>

#include "conclave/experiment/gnuplot.hpp"

namespace conclave::experiment {

// The table is a trace of message passing, one line per event (docs/exploring-schedules.md). Throws
// Error where it holds more than one trial, or more than can be read in a picture.
void draw_space_time(const Table& table, const std::string& picture, const std::string& title);

}  // namespace conclave::experiment
