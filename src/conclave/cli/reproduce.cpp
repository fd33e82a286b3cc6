// `conclave reproduce`: the plans under experiments/ or quick versions of them, and one report of
// them all.
//
// The plans are part of the program (cmake/Conclave.cmake embeds them), so that an installed one
// has them, too. Each becomes a file beside its results; from there on it is an ordinary sweep,
// which goes on where it was interrupted.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/output.hpp"
#include "conclave/cli/cli.hpp"
#include "conclave/cli/progress_line.hpp"
#include "conclave/cli/terminal.hpp"
#include "conclave/cli/version.hpp"
#include "conclave/report/assets.hpp"
#include "conclave/report/write_report.hpp"
#include "conclave/sweep/plan.hpp"
#include "conclave/sweep/results.hpp"
#include "conclave/sweep/store.hpp"
#include "conclave/sweep/sweep.hpp"

namespace conclave::cli {
namespace {

struct ReproduceOptions {
  std::string folder = "reproduced";
  std::vector<std::string> only{};
  std::string threads;
  bool full = false;
  bool dry_run = false;
  bool mix_versions = false;
  bool quiet = false;
};

struct NamedPlan {
  std::string_view name;
  std::string_view quick;
  std::string_view full;
};

std::array<NamedPlan, 6> all_plans() {
  return {{{"pll", report::plan_pll, report::full_pll},
           {"ppl", report::plan_ppl, report::full_ppl},
           {"prl", report::plan_prl, report::full_prl},
           {"electleader", report::plan_electleader, report::full_electleader},
           {"kmpp", report::plan_kmpp, report::full_kmpp},
           {"comparison", report::plan_comparison, report::full_comparison}}};
}

std::vector<NamedPlan> chosen_plans(const ReproduceOptions& options) {
  std::vector<NamedPlan> result;
  std::vector<std::string_view> names;
  for (const NamedPlan& plan : all_plans()) {
    names.push_back(plan.name);
    const bool is_chosen =
        options.only.empty() || std::ranges::find(options.only, plan.name) != options.only.end();
    if (is_chosen) result.push_back(plan);
  }
  for (const std::string& name : options.only) {
    if (std::ranges::find(names, name) == names.end())
      throw Error(unknown_name("plan", name, names));
  }
  return result;
}

// A plan, and how much of it is left.
struct Rest {
  std::size_t cells = 0;
  std::uint64_t trials = 0;
  std::uint64_t left = 0;
  double seconds = 0;     // of one processor, for those left
  bool is_bound = false;  // it takes longer than that
};

// The rows that each cell has in a file of results; none where there is no file. Throws Error if it
// is of another plan.
std::vector<std::uint64_t> rows_in(const std::string& file, const sweep::Plan& plan) {
  std::vector<std::uint64_t> rows(plan.cells.size(), 0);
  std::error_code problem;
  const auto found = std::filesystem::status(file, problem).type();
  if (found == std::filesystem::file_type::not_found) return rows;
  const sweep::Results stored(file);
  if (const std::string changed = sweep::difference(stored, plan); !changed.empty()) {
    throw Error(
        fmt::format("'{}' is of another plan: {}; choose another folder with -o", file, changed));
  }
  for (const sweep::StoredCell& cell : stored.cells()) rows[cell.id] = cell.rows;
  return rows;
}

Rest rest_of(const NamedPlan& named, const ReproduceOptions& options,
             const std::atomic<bool>& stop) {
  const std::filesystem::path folder = options.folder;
  const std::string path = (folder / fmt::format("{}.toml", named.name)).string();
  const sweep::Plan plan =
      sweep::parse_plan(path, std::string(options.full ? named.full : named.quick));
  const auto rows = rows_in((folder / fmt::format("{}.db", named.name)).string(), plan);
  Rest rest{.cells = plan.cells.size()};
  for (std::size_t id = 0; id < plan.cells.size() && !stop; ++id) {
    const std::uint64_t trials = sweep::trials_in({}, id, plan.cells[id].sampling);
    const std::uint64_t left = trials - std::min(trials, rows[id]);
    rest.trials += trials;
    rest.left += left;
    if (left == 0) continue;
    const sweep::Pilot pilot = sweep::run_pilot(plan, id, stop);
    rest.seconds += pilot.seconds * static_cast<double>(left);
    rest.is_bound = rest.is_bound || !pilot.is_complete;
  }
  return rest;
}

std::string time_text(const Rest& rest) {
  if (rest.left == 0) return "none";
  return fmt::format("{}{}", rest.is_bound ? "more than " : "about ", duration_text(rest.seconds));
}

// The plans without carrying them out; writes nothing.
Exit print_rest(const std::vector<NamedPlan>& plans, const ReproduceOptions& options) {
  constexpr const char* layout = "{:<12} {:>6} {:>8} {:>8}  {}\n";
  const std::atomic<bool>& stop = interrupted_flag();
  fmt::print(layout, "PLAN", "CELLS", "TRIALS", "LEFT", "TIME OF ONE PROCESSOR");
  Rest all;
  for (const NamedPlan& plan : plans) {
    const Rest rest = rest_of(plan, options, stop);
    if (stop) return Exit::interrupted;
    fmt::print(layout, plan.name, rest.cells, rest.trials, rest.left, time_text(rest));
    all.cells += rest.cells;
    all.trials += rest.trials;
    all.left += rest.left;
    all.seconds += rest.seconds;
    all.is_bound = all.is_bound || rest.is_bound;
  }
  fmt::print(layout, "all", all.cells, all.trials, all.left, time_text(all));
  return Exit::done;
}

Exit reproduce(const ReproduceOptions& options) {
  const std::vector<NamedPlan> plans = chosen_plans(options);
  if (options.dry_run) return print_rest(plans, options);
  const std::filesystem::path folder = options.folder;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    throw Error(fmt::format("cannot make the folder '{}': {}", options.folder, error.message()));
  }
  Exit status = Exit::done;
  std::vector<std::string> files;
  for (const NamedPlan& plan : plans) {
    const std::string path = (folder / fmt::format("{}.toml", plan.name)).string();
    files.push_back((folder / fmt::format("{}.db", plan.name)).string());
    write_file(path, options.full ? plan.full : plan.quick);
    const Exit ended = carry_out({.plan = path,
                                  .output = files.back(),
                                  .threads = options.threads,
                                  .shard = {},
                                  .extend = options.mix_versions,
                                  .mix_versions = options.mix_versions,
                                  .quiet = options.quiet});
    if (ended == Exit::interrupted) return ended;
    if (ended != Exit::done) status = ended;
  }
  const std::string page = (folder / "report.html").string();
  report::write_report({.files = files,
                        .page = page,
                        .figures = (folder / "figures").string(),
                        .title = "The papers' claims, measured",
                        .version = code_version()});
  if (!options.quiet) tell("the report: {}\n", page);
  return status;
}

constexpr const char* reproduce_examples = R"(
Runs quick versions of the plans under experiments/ (some minutes on two processors) and writes
plans, results, figures and one report.html into the folder. Interrupted, the same command resumes.
With --full the plans themselves are run, whose results lie in experiments/results: unpacked into
the folder, they count as done, and --mix-versions continues them. --dry-run prints what is left.

Examples:
  conclave reproduce -o claims
  conclave reproduce --only pll,prl -o two
  conclave reproduce --full --only prl -o rings
  conclave reproduce --full --dry-run)";

}  // namespace

void add_reproduce(Command& conclave) {
  auto options = std::make_shared<ReproduceOptions>();
  Command command =
      conclave.subcommand("reproduce", "Measure the papers' claims and write one report of them");
  command.option("-o,--output", "FOLDER", options->folder,
                 "The folder to write to (default reproduced)");
  command.list_option("--only", "NAME,...", options->only,
                      "Only these: pll, ppl, prl, electleader, kmpp, comparison");
  command.option("--threads", "K", options->threads,
                 "Worker threads; never changes a result (default: one per processor)");
  command.flag("--full", options->full,
               "The full grids, which take longer, instead of the reduced ones");
  command.flag("--dry-run", options->dry_run,
               "Only print how many trials are left and how long they take");
  command.flag("--mix-versions", options->mix_versions,
               "Continue files that another version of conclave has begun, perhaps with fewer "
               "trials");
  command.flag("--quiet", options->quiet, "No progress line and no summary on standard error");
  command.footer(reproduce_examples);
  command.runs([options] { return reproduce(*options); });
}

}  // namespace conclave::cli
