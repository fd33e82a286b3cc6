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

// A film of a history: a bar per state, one picture per time. gnuplot draws the pictures; it makes
// a .gif of them itself, and ffmpeg an .mp4. Where ffmpeg is missing, some of the pictures side by
// side take the film's place.
struct FilmOptions {
  std::string history;  // a wide table of `conclave run --history`
  std::string film;     // .mp4 or .gif
  std::string title;
};

// Shows the first trial, at most 300 times and the 20 states with the most agents. Returns the file
// that was written: the film, or, where ffmpeg cannot be started, a .svg of the same name. Throws
// Error if a file makes no sense or a program fails, std::system_error if something could not be
// written.
std::string animate(const FilmOptions& options);

}  // namespace conclave::plot
