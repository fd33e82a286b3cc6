#include "conclave/experiment/run_outputs.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/output.hpp"
#include "conclave/catalog/text_entry.hpp"
#include "conclave/experiment/fault_text.hpp"

namespace conclave::experiment {
namespace {

// An option that says when or how to look at trials needs an output for what is seen.
void check_looks(const RunOutputs& outputs) {
  const auto check = [](std::string_view option, const std::string& value, bool is_of_use,
                        std::string_view needed) {
    if (!value.empty() && !is_of_use) throw Error(fmt::format("{} needs {}", option, needed));
  };
  const bool looks = outputs.has_trace() || outputs.has_history();
  check("--every", outputs.every, looks, "--trace or --history");
  check("--trace-grid", outputs.trace_grid, looks, "--trace or --history");
  check("--history-by", outputs.history_by, outputs.has_history(), "--history");
  check("--history-format", outputs.history_format, outputs.has_history(), "--history");
  if (!outputs.every.empty() && !outputs.trace_grid.empty()) {
    throw Error("--every and --trace-grid contradict each other: give one");
  }
}

void check_files(const RunOutputs& outputs, const RunText& words, const std::string& init_from) {
  const std::array<std::pair<std::string_view, const std::string*>, 4> files{
      {{"--output", &outputs.output},
       {"--trace", &outputs.trace},
       {"--history", &outputs.history},
       {"--final", &outputs.final_file}}};
  if (std::ranges::all_of(files, [](const auto& each) { return each.second->empty(); })) return;
  const std::string graph =
      words.graph.starts_with("file:") ? words.graph.substr(5) : std::string();
  const std::vector<std::string> texts = catalog::files_of(words.protocol);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto& [option, path] = files[i];
    check_output_is_not_read(*path, texts);
    check_output_is_not_read(*path, graph);
    if (option != "--final") check_output_is_not_read(*path, init_from);
    for (std::size_t j = i + 1; j < files.size(); ++j) {
      if (!is_same_output(*path, *files[j].second)) continue;
      throw Error(fmt::format("{} and {} are both '{}': they need a file each", option,
                              files[j].first, *files[j].second));
    }
  }
}

}  // namespace

void check_outputs(const RunOutputs& outputs, const RunText& words, const std::string& init_from) {
  check_looks(outputs);
  check_files(outputs, words, init_from);
}

void plan_looks(const RunOutputs& outputs, Interactions n, TrialPlan& plan) {
  plan.keeps_trace = outputs.has_trace();
  plan.keeps_history = outputs.has_history();
  plan.keeps_final = outputs.has_final();
  if (!plan.keeps_trace && !plan.keeps_history) return;
  plan.grid = outputs.every.empty()
                  ? parse_grid(outputs.trace_grid.empty() ? "log" : outputs.trace_grid)
                  : grid_of(outputs.every, n);
}

}  // namespace conclave::experiment
