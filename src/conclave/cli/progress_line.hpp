// One line on a terminal that says how far the trials are; nothing anywhere else.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "conclave/experiment/runner.hpp"

namespace conclave::cli {

// A piece of a line. Where the terminal is too narrow for all pieces, those that matter least are
// left out.
struct LinePart {
  std::string text;
  int weight = 0;  // the larger, the longer it stays
};
using LineParts = std::vector<LinePart>;

// The pieces in their order, three spaces apart, in at most `width` characters; the piece that
// matters most is cut where it is too long by itself. `width` >= 3.
std::string fitted(LineParts parts, std::size_t width);

// A line that is painted anew five times a second until it is destroyed, if standard error is a
// terminal and `quiet` is false.
class RepaintedLine {
 public:
  // `parts` is called on a thread of its own, from here until the destructor returns.
  RepaintedLine(bool quiet, std::function<LineParts()> parts);
  ~RepaintedLine();
  RepaintedLine(const RepaintedLine&) = delete;
  RepaintedLine& operator=(const RepaintedLine&) = delete;

 private:
  std::jthread painter_;
};

// The measure of one trial: interactions per unit of parallel time, and the time at which it ends
// at the latest; 0: not known.
struct TrialScale {
  double agents = 0;
  double most_time = 0;
};

// The line of a run: trials done, rate, time left. `progress` must outlive it.
class ProgressLine {
 public:
  // `steps` is what `progress` counts. With a scale, tells how far the trial is that was looked at
  // last.
  ProgressLine(std::string label, std::uint64_t trials, experiment::Progress& progress, bool quiet,
               std::string_view steps = "interactions", TrialScale scale = {});

 private:
  LineParts parts() const;
  void add_trial(LineParts& parts, double seconds) const;

  std::string label_;
  std::string_view steps_;
  std::uint64_t trials_;
  TrialScale scale_;
  const experiment::Progress& progress_;
  std::chrono::steady_clock::time_point begin_;
  RepaintedLine line_;  // last, since it reads the others
};

// The same for one long computation: repaints what is being done, five times a second at most.
class PhaseLine {
 public:
  // Lets the computation continue until `stop` becomes true.
  PhaseLine(bool quiet, const std::atomic<bool>& stop);
  ~PhaseLine();
  PhaseLine(const PhaseLine&) = delete;
  PhaseLine& operator=(const PhaseLine&) = delete;

  // Shows `what` is being done, how much of it is and, where the whole is known from the beginning,
  // how long the rest takes. False: the computation should end.
  bool operator()(std::string_view what, std::uint64_t done, std::uint64_t total);

 private:
  std::string left(std::uint64_t done, std::uint64_t total) const;

  bool shows_;
  const std::atomic<bool>& stop_;
  std::chrono::steady_clock::time_point shown_{};
  std::string last_;
  std::chrono::steady_clock::time_point begin_{};  // of what is shown
  std::uint64_t done_then_ = 0;
  std::uint64_t total_then_ = 0;
};

// "1.5 s", "3 min 20 s", "2 h 5 min".
std::string duration_text(double seconds);

}  // namespace conclave::cli
