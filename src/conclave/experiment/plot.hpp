// A picture of a trace: each column over time, the trials overlaid, drawn by gnuplot.
#pragma once

#include <string>
#include <vector>

namespace conclave::experiment {

struct PlotOptions {
  std::string trace;    // a file written by `conclave run --trace`
  std::string picture;  // .svg, .pdf or .png
  std::vector<std::string> columns{"leaders"};
  std::string title;
  bool linear_time = false;
};

// Throws Error where a file, a column or gnuplot is missing.
void plot_trace(const PlotOptions& options);

}  // namespace conclave::experiment
