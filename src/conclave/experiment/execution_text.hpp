// How a run is carried out, as the user writes it: trials and threads, when trials are sampled, and
// the files that are read and written. The command line and Python check it here, so that both
// refuse the same mistakes.
#pragma once

#include <optional>
#include <string>

#include "conclave/base/interactions.hpp"
#include "conclave/experiment/run_text.hpp"
#include "conclave/model/trial.hpp"

namespace conclave::experiment {

// An empty text stands for an option that was not given. run_options.hpp says what each is.
struct ExecutionText {
  std::string trials = "1";
  std::string threads{};
  std::string format = "table";
  std::string output{};  // the file of rows or statistics
  std::string trace{};
  std::string trace_grid{};
  std::string every{};
  std::string history{};
  std::string history_by{};
  std::string history_format{};
  std::string final_file{};
  std::string init_from{};
  bool check = false;  // the properties of a protocol file, at every interaction
  bool quiet = false;
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
// configuration may replace `init_from`, the initial configuration.
void check_outputs(const ExecutionText& execution, const RunText& words);

// Puts into the plan of n agents what trials keep and when they are sampled. Throws Error if the
// times cannot be read.
void plan_samples(const ExecutionText& execution, Interactions n, TrialPlan& plan);

// The number of threads that was asked for; nothing: as many as are useful. Throws Error.
std::optional<unsigned> asked_threads(const ExecutionText& execution);

}  // namespace conclave::experiment
