// A picture of a trace: each column over time, the trials overlaid, drawn by gnuplot.
#pragma once

#include <string>
#include <vector>

namespace conclave::plot {

struct PlotOptions {
  std::string trace;    // a file written by `conclave run --trace`
  std::string picture;  // .svg, .pdf or .png
  std::vector<std::string> columns{"leaders"};
  std::string title;
  bool linear_time = false;
};

// A trace of message passing becomes a space-time diagram, any other one curves over time. Throws
// Error where a file, a column or gnuplot is missing, std::system_error where the picture could not
// be written completely; no picture is left then.
void plot_trace(const PlotOptions& options);

}  // namespace conclave::plot
