// The files that a run writes and the times at which it looks at its trials, as the user writes
// them. The command line and Python check and plan them here, so both refuse the same mistakes.
#pragma once

#include <string>

#include "conclave/base/interactions.hpp"
#include "conclave/experiment/run_text.hpp"
#include "conclave/model/trial.hpp"

namespace conclave::experiment {

// An empty text stands for an option that was not given.
struct RunOutputs {
  std::string output{};  // the file of rows or statistics
  std::string trace{};
  std::string history{};
  std::string final_file{};
  std::string trace_grid{};
  std::string every{};
  std::string history_by{};
  std::string history_format{};
  // Asked for without a file, to be kept in memory.
  bool keeps_trace = false;
  bool keeps_history = false;
  bool keeps_final = false;

  bool has_trace() const { return keeps_trace || !trace.empty(); }
  bool has_history() const { return keeps_history || !history.empty(); }
  bool has_final() const { return keeps_final || !final_file.empty(); }
};

// Throws Error with one sentence if an option needs another one or contradicts it, if two outputs
// are one file, or if an output would replace a file that the run reads. Only the final
// configuration may replace `init_from`, the configuration that the run starts from.
void check_outputs(const RunOutputs& outputs, const RunText& words, const std::string& init_from);

// Puts into the plan of n agents what trials keep and when they are looked at. Throws Error if the
// times cannot be read.
void plan_looks(const RunOutputs& outputs, Interactions n, TrialPlan& plan);

}  // namespace conclave::experiment
