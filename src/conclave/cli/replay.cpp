// `conclave replay`: reruns one stored trial and compares.
//
// A file of results holds what replays each row: the words of its cell, the texts of protocol
// files, the seed and the number of the trial. A row that comes out different is shown below the
// stored one.
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/printable.hpp"
#include "conclave/catalog/population_run.hpp"
#include "conclave/cli/cli.hpp"
#include "conclave/cli/terminal.hpp"
#include "conclave/cli/version.hpp"
#include "conclave/experiment/run_text.hpp"
#include "conclave/sweep/results.hpp"
#include "conclave/sweep/worker.hpp"

namespace conclave::cli {
namespace {

struct ReplayOptions {
  std::string file;
  std::string row;
  std::string cell;
  std::string trial;
};

struct Place {
  std::size_t cell = 0;
  std::uint64_t trial = 0;
};

// Rows are counted by cell and trial, from 0.
Place place_of_row(const sweep::Results& results, const std::string& text) {
  if (results.rows() == 0) throw Error("the file has no rows yet");
  std::uint64_t index = count_option_64("--row", text, 0, results.rows() - 1);
  for (const sweep::StoredCell& cell : results.cells()) {
    if (index < cell.rows) return {cell.id, results.trial_at(cell.id, index)};
    index -= cell.rows;
  }
  return {};
}

Place place_of(const sweep::Results& results, const ReplayOptions& options) {
  const bool has_trial = !options.cell.empty() && !options.trial.empty();
  if (options.row.empty() != has_trial || options.cell.empty() != options.trial.empty()) {
    throw Error("give the trial: --row K, or --cell C --trial T");
  }
  if (!has_trial) return place_of_row(results, options.row);
  const std::size_t cell = count_option_64("--cell", options.cell, 0,
                                           std::max<std::size_t>(results.cells().size(), 1) - 1);
  return {cell, count_option_64("--trial", options.trial, 0, UINT64_MAX >> 1)};
}

// Engine gpu runs the trials of engine agents, which every machine can run again.
experiment::RunText runnable_anywhere(experiment::RunText words) {
  if (words.engine == catalog::gpu_engine.name) words.engine = catalog::agents_engine.name;
  return words;
}

Exit run(const ReplayOptions& options) {
  const sweep::Results results(options.file);
  const Place place = place_of(results, options);
  const std::string stored = results.row(place.cell, place.trial);
  if (stored.empty()) {
    throw Error(fmt::format("cell {} has no trial {} yet", place.cell, place.trial));
  }
  const sweep::StoredCell& cell = results.cells()[place.cell];
  const sweep::Plan plan{.name = results.meta("name"),
                         .text = {},
                         .texts = results.texts(),
                         .cells = {{.words = runnable_anywhere(cell.words)}}};
  const std::atomic<bool>& stop = interrupted_flag();
  sweep::PreparedCells cells(plan);
  const sweep::Done done = sweep::Worker(cells, stop).run({.cell = 0, .trials = {place.trial}});
  if (done.rows.empty()) return Exit::interrupted;
  const std::string made_by = results.code_version(place.cell, place.trial);
  if (done.rows.front() == stored) {
    fmt::print("{}\n", printable_json(stored));
    tell("cell {}, trial {}: the same, byte for byte\n", place.cell, place.trial);
    return Exit::done;
  }
  fmt::print("- {}\n+ {}\n", printable_json(stored), done.rows.front());
  tell("cell {}, trial {}: different; it was made by conclave {}, and this is {}\n", place.cell,
       place.trial, made_by, code_version());
  return Exit::does_not_hold;
}

}  // namespace

void add_replay(Command& conclave) {
  auto options = std::make_shared<ReplayOptions>();
  Command command = conclave.subcommand("replay", "Rerun one trial of a sweep and compare");
  command.word("FILE", options->file, "A file that `conclave sweep` has written");
  command.option("--row", "K", options->row, "The row, counted from 0 by cell and trial");
  command.option("--cell", "C", options->cell, "Instead of --row: the cell, and its --trial");
  command.option("--trial", "T", options->trial, "The trial of --cell");
  command.file_size_option();
  command.footer(R"(
Examples:
  conclave replay results.db --row 17
  conclave replay results.db --cell 3 --trial 0

Exit status: 0 the same, byte for byte; 4 different (both rows are printed).)");
  command.runs([options] { return run(*options); });
}

}  // namespace conclave::cli
