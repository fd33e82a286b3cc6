// Sweeps, files of results, reports.
#include "conclave/sweep/store.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "conclave/base/error.hpp"
#include "conclave/cli/version.hpp"
#include "conclave/experiment/memory.hpp"
#include "conclave/experiment/option_values.hpp"
#include "conclave/report/report.hpp"
#include "conclave/sweep/export.hpp"
#include "conclave/sweep/plan.hpp"
#include "conclave/sweep/results.hpp"
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

// Carries out the plan in a file; `look(trials done, trials)` is called now and then. False where
// some trial did not converge.
bool carry_out(const std::string& plan_path, const std::string& output, const std::string& threads,
               bool extend, bool mix_versions, const py::object& look) {
  const sweep::Plan plan = sweep::read_plan(plan_path);
  const std::uint64_t memory = experiment::available_memory();
  check_memory(plan, memory);
  const unsigned workers =
      threads.empty()
          ? std::max(1u, std::thread::hardware_concurrency())
          : static_cast<unsigned>(experiment::count_option_64("--threads", threads, 1, 1024));
  sweep::Store store(
      output, plan,
      {.code = cli::code_version(), .extends = extend, .mixes_versions = mix_versions});
  sweep::Sweep sweep(plan, {}, sweep::Results(output), store, memory);
  std::atomic<bool> stop = false;
  attend([&] { sweep.work(workers, stop); }, stop,
         [&] {
           const sweep::SweepProgress progress = sweep.progress();
           if (!look.is_none()) look(progress.trials_done, progress.trials);
         });
  return sweep::Results(output).not_converged() == 0;
}

std::string csv_of(const std::string& path, const std::vector<std::string>& where) {
  const sweep::Results results(path);
  const sweep::Filter filter(where, results);
  std::string text;
  sweep::write_csv(results, filter, [&](std::string_view part) { text += part; });
  return text;
}

std::string jsonl_of(const std::string& path, const std::vector<std::string>& where) {
  const sweep::Results results(path);
  const sweep::Filter filter(where, results);
  std::string text;
  sweep::for_each_row(results, filter,
                      [&](const sweep::PlacedRow& row) { text += row.json + '\n'; });
  return text;
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

void write_report(const std::vector<std::string>& files, const std::string& page,
                  const std::string& figures, const std::vector<std::string>& kinds,
                  const std::vector<std::string>& only, const std::string& title) {
  std::atomic<bool> stop = false;
  attend(
      [&] {
        report::write_report({.files = files,
                              .page = page,
                              .figures = figures,
                              .kinds = kinds,
                              .only = only,
                              .title = title,
                              .version = cli::code_version()});
      },
      stop);
}

}  // namespace

void bind_store(py::module_& module) {
  module.def("sweep", &carry_out);
  module.def("results_csv", &csv_of);
  module.def("results_jsonl", &jsonl_of);
  module.def("results_cells", &cells_of);
  module.def("results_about", &about);
  module.def("report", &write_report);
}

}  // namespace conclave::python
