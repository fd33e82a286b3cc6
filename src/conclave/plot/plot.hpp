// Pictures of a trace: columns over time, as the courses of all trials or as their mean with a
// band; or messages in space and time.
#pragma once

#include <string>
#include <vector>

#include "conclave/plot/figure.hpp"

namespace conclave::plot {

struct PlotOptions {
  std::string trace;                   // a file written by `conclave run --trace`
  std::vector<std::string> files;      // to write: .svg, .pdf, .png, .csv or .tex
  std::vector<std::string> columns{};  // empty: leaders, or all numbers where there are none
  std::string title{};
  bool has_mean = false;  // the mean over trials with its 95 % interval instead of every trial
  Looks looks{};
};

// A trace of message passing becomes a space-time diagram, any other one curves over time. Throws
// Error if a file, a column or gnuplot is missing, std::system_error if a file could not be written
// completely; that one is not left then.
void plot_trace(const PlotOptions& options);

}  // namespace conclave::plot
