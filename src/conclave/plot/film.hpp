// A film of a history: a bar per state, one picture per time. gnuplot draws the pictures; it makes
// a .gif of them itself, and ffmpeg an .mp4. Where ffmpeg is missing, some of the pictures side by
// side take the film's place.
#pragma once

#include <string>

namespace conclave::plot {

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
