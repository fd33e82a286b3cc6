// One line on a terminal that says how far the trials are; nothing anywhere else.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>

#include "conclave/experiment/runner.hpp"

namespace conclave::cli {

class ProgressLine {
 public:
  // Shows `progress` until destroyed, if standard error is a terminal and `quiet` is false.
  // `steps` is what `progress` counts.
  ProgressLine(std::string label, std::uint64_t trials, const experiment::Progress& progress,
               bool quiet, std::string_view steps = "interactions");
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

 private:
  void show() const;

  std::string label_;
  std::string_view steps_;
  std::uint64_t trials_;
  const experiment::Progress& progress_;
  std::chrono::steady_clock::time_point begin_;
  std::jthread painter_;
};

// "1.5 s", "3 min 20 s", "2 h 5 min".
std::string duration_text(double seconds);

}  // namespace conclave::cli
