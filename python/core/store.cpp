// Sweeps, files of results, reports.
#include "conclave/sweep/store.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "conclave/base/csv.hpp"
#include "conclave/base/error.hpp"
#include "conclave/cli/version.hpp"
#include "conclave/experiment/option_values.hpp"
#include "conclave/experiment/runner.hpp"
#include "conclave/plot/figure.hpp"
#include "conclave/report/write_report.hpp"
#include "conclave/sweep/plan.hpp"
#include "conclave/sweep/rare_cells.hpp"
#include "conclave/sweep/results.hpp"
#include "conclave/sweep/schedule.hpp"
#include "conclave/sweep/selection.hpp"
#include "conclave/sweep/sweep.hpp"

#include "python/core/core.hpp"

namespace conclave::python {
namespace {

void check_memory(const sweep::Plan& plan, std::uint64_t memory) {
  for (const sweep::Cell& cell : plan.cells) {
    if (cell.bytes <= memory) continue;
    throw Error("a trial of " + sweep::cell_text(cell) + " does not fit into the free memory");
  }
}

unsigned worker_count(const std::string& threads) {
  if (threads.empty()) return std::max(1u, std::thread::hardware_concurrency());
  return static_cast<unsigned>(experiment::count_option_64("--threads", threads, 1, 1024));
}

sweep::Shard shard_of(const std::string& text) {
  return text.empty() ? sweep::Shard{} : sweep::parse_shard(text);
}

sweep::Plan plan_in(const std::string& path, bool allow_outside) {
  return sweep::read_plan(path, allow_outside ? sweep::Outside::allowed : sweep::Outside::refused);
}

// Carries out the plan in a file; `look(trials done, trials)` is called now and then. Returns the
// plan's warnings.
std::vector<std::string> carry_out(const std::string& plan_path, const std::string& output,
                                   const py::dict& options, const py::object& look) {
  const sweep::Plan plan = plan_in(plan_path, options["allow_outside"].cast<bool>());
  report::check_laws(plan, options["law"].cast<std::vector<std::string>>());
  const std::string picture = options["plot"].cast<std::string>();
  if (!picture.empty()) plot::kind_of(picture);  // objects at once
  const sweep::Shard shard = shard_of(options["shard"].cast<std::string>());
  const std::uint64_t memory = experiment::available_memory();
  check_memory(plan, memory);
  const unsigned workers = worker_count(options["threads"].cast<std::string>());
  sweep::Store store(output, plan,
                     {.code = cli::code_version(),
                      .shard = shard,
                      .extends = options["extend"].cast<bool>(),
                      .mixes_versions = options["mix_versions"].cast<bool>()});
  sweep::Sweep sweep(plan, shard, sweep::Results(output), store, memory);
  std::atomic<bool> stop = false;
  attend([&] { sweep.work(workers, stop); }, stop,
         [&] {
           const sweep::SweepProgress progress = sweep.progress();
           if (!look.is_none()) look(progress.trials_done, progress.trials);
         });
  return plan.warnings;
}

// The table that `--dry-run` prints, as one dict per cell.
py::list estimate(const std::string& plan_path, const std::string& shard_text, bool allow_outside) {
  const sweep::Plan plan = plan_in(plan_path, allow_outside);
  const sweep::Shard shard = shard_of(shard_text);
  std::vector<sweep::Pilot> pilots;
  std::atomic<bool> stop = false;
  attend(
      [&] {
        for (std::size_t id = 0; id < plan.cells.size() && !stop; ++id) {
          pilots.push_back(sweep::run_pilot(plan, id, stop));
        }
      },
      stop);
  py::list cells;
  for (std::size_t id = 0; id < pilots.size(); ++id) {
    const std::uint64_t trials = sweep::trials_in(shard, id, plan.cells[id].sampling);
    py::dict cell;
    cell["cell"] = id;
    cell["trials"] = trials;
    cell["steps_per_trial"] = pilots[id].steps;
    cell["seconds_per_trial"] = pilots[id].seconds;
    cell["is_complete"] = pilots[id].is_complete;
    cell["run"] = sweep::cell_text(plan.cells[id]);
    cells.append(cell);
  }
  return cells;
}

std::string csv_of(const std::string& path, const std::vector<std::string>& where,
                   bool quotes_formulas) {
  const sweep::Results results(path);
  const sweep::Filter filter(where, results);
  std::string text;
  sweep::write_csv(
      results, filter, [&](std::string_view part) { text += part; },
      quotes_formulas ? Formulas::quoted : Formulas::kept);
  return text;
}

// Returns how many rows are saved and how many missing, and what was lost.
py::tuple salvage(const std::string& input, const std::string& output) {
  const sweep::Salvaged found = sweep::salvage(input, output, cli::code_version());
  return py::make_tuple(found.saved.rows, found.saved.missing, found.lost);
}

std::string jsonl_of(const std::string& path, const std::vector<std::string>& where) {
  const sweep::Results results(path);
  const sweep::Filter filter(where, results);
  std::string text;
  sweep::for_each_row(results, filter,
                      [&](const sweep::PlacedRow& row) { text += row.json + '\n'; });
  return text;
}

// A row per cell of rare failures, as `conclave rare` prints it.
std::string estimates_of(const std::string& path, const std::vector<std::string>& where) {
  const sweep::Results results(path);
  return sweep::estimates_text(sweep::estimates_of(results, sweep::Filter(where, results)),
                               "jsonl");
}

py::list cells_of(const std::string& path) {
  const sweep::Results results(path);
  py::list cells;
  for (const sweep::StoredCell& cell : results.cells()) {
    py::dict fields;
    for (const auto& [name, value] : cell.fields) fields[py::str(name)] = py::str(value);
    fields["trials"] = py::int_(cell.sampling.trials);
    fields["rows"] = py::int_(cell.rows);
    cells.append(fields);
  }
  return cells;
}

py::dict about(const std::string& path) {
  const sweep::Results results(path);
  py::dict result;
  result["name"] = results.meta("name");
  result["plan"] = results.meta("plan");
  result["rows"] = results.rows();
  result["cells"] = results.cells().size();
  result["versions"] = results.code_versions();
  return result;
}

plot::Looks looks_of(const py::dict& options) {
  const auto text = [&](const char* name) { return options[name].cast<std::string>(); };
  plot::Looks looks{.has_title = !options["no_title"].cast<bool>(),
                    .has_bands = options["bands"].cast<bool>()};
  if (!text("axes").empty()) looks.axes = plot::parse_axes(text("axes"));
  if (!text("size").empty()) looks.size = plot::parse_size(text("size"));
  if (!text("font_size").empty()) looks.font_size = plot::parse_font_size(text("font_size"));
  return looks;
}

void write_report(const std::vector<std::string>& files, const py::dict& options) {
  const auto text = [&](const char* name) { return options[name].cast<std::string>(); };
  const auto list = [&](const char* name) {
    return options[name].cast<std::vector<std::string>>();
  };
  const report::ReportOptions wanted{.files = files,
                                     .page = text("page"),
                                     .figures = text("figures"),
                                     .kinds = list("kinds"),
                                     .looks = looks_of(options),
                                     .only = list("only"),
                                     .where = list("where"),
                                     .by = text("by"),
                                     .laws = list("law"),
                                     .title = text("title"),
                                     .version = cli::code_version(),
                                     .explorer = text("explorer")};
  std::atomic<bool> stop = false;
  attend([&] { report::write_report(wanted); }, stop);
}

std::string draw_growth(const std::string& results, const std::string& picture,
                        const std::vector<std::string>& laws) {
  std::string verdict;
  std::atomic<bool> stop = false;
  attend([&] { verdict = report::draw_growth(results, picture, laws, {}); }, stop);
  return verdict;
}

}  // namespace

void bind_store(py::module_& module) {
  module.def("sweep", &carry_out);
  module.def("sweep_estimate", &estimate);
  module.def("results_csv", &csv_of);
  module.def("results_salvage", &salvage);
  module.def("results_jsonl", &jsonl_of);
  module.def("results_estimates", &estimates_of);
  module.def("results_cells", &cells_of);
  module.def("results_about", &about);
  module.def("report", &write_report);
  module.def("draw_growth", &draw_growth);
}

}  // namespace conclave::python
