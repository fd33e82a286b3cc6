#include "conclave/experiment/execution_text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/output.hpp"
#include "conclave/catalog/text_entry.hpp"
#include "conclave/experiment/option_values.hpp"
#include "conclave/experiment/run_options.hpp"

namespace conclave::experiment {
namespace {

// An option that says when or how trials are sampled needs an output for the samples.
void check_samples(const ExecutionText& outputs) {
  const auto check = [&](std::string ExecutionText::*member, bool is_of_use,
                         std::string_view needed) {
    if ((outputs.*member).empty() || is_of_use) return;
    throw Error(fmt::format("{} needs {}", option_of(member).flag(), needed));
  };
  const bool has_samples = outputs.has_trace() || outputs.has_history();
  check(&ExecutionText::every, has_samples, "--trace or --history");
  check(&ExecutionText::trace_grid, has_samples, "--trace or --history");
  check(&ExecutionText::history_by, outputs.has_history(), "--history");
  check(&ExecutionText::history_format, outputs.has_history(), "--history");
  if (!outputs.every.empty() && !outputs.trace_grid.empty()) {
    throw Error("--every and --trace-grid contradict each other: give one");
  }
}

void check_files(const ExecutionText& outputs, const RunText& words) {
  constexpr std::array files{&ExecutionText::output, &ExecutionText::trace, &ExecutionText::history,
                             &ExecutionText::final_file};
  if (std::ranges::all_of(files, [&](auto file) { return (outputs.*file).empty(); })) return;
  const std::string graph =
      words.graph.starts_with("file:") ? words.graph.substr(5) : std::string();
  const std::vector<std::string> texts = catalog::files_of(words.protocol);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string& path = outputs.*files[i];
    check_output_is_not_read(path, texts);
    check_output_is_not_read(path, graph);
    if (files[i] != &ExecutionText::final_file) check_output_is_not_read(path, outputs.init_from);
    for (std::size_t j = i + 1; j < files.size(); ++j) {
      if (!is_same_output(path, outputs.*files[j])) continue;
      throw Error(fmt::format("{} and {} are both '{}': they need a file each",
                              option_of(files[i]).flag(), option_of(files[j]).flag(),
                              outputs.*files[j]));
    }
  }
}

}  // namespace

void check_outputs(const ExecutionText& execution, const RunText& words) {
  check_samples(execution);
  if (execution.check && catalog::file_of(words.protocol).empty()) {
    throw Error(fmt::format(
        "--check is for protocol files; conclave verify checks the lemmas of {}", words.protocol));
  }
  check_files(execution, words);
}

void plan_samples(const ExecutionText& execution, Interactions n, TrialPlan& plan) {
  plan.keeps_trace = execution.has_trace();
  plan.keeps_history = execution.has_history();
  plan.keeps_final = execution.has_final() || execution.check;
  plan.checks = execution.check;
  if (!plan.keeps_trace && !plan.keeps_history) return;
  plan.grid = execution.every.empty()
                  ? parse_grid(execution.trace_grid.empty() ? "log" : execution.trace_grid)
                  : grid_of(execution.every, n);
}

std::optional<unsigned> asked_threads(const ExecutionText& execution) {
  if (execution.threads.empty()) return std::nullopt;
  return static_cast<unsigned>(count_of(execution, &ExecutionText::threads));
}

}  // namespace conclave::experiment
