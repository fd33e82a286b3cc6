// `conclave reproduce`: the plans under experiments/ or quick versions of them, and one report of
// them all.
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/output.hpp"
#include "conclave/cli/cli.hpp"
#include "conclave/cli/sweep.hpp"
#include "conclave/cli/terminal.hpp"
#include "conclave/cli/version.hpp"
#include "conclave/report/assets.hpp"
#include "conclave/report/report.hpp"

namespace conclave::cli {
namespace {

struct ReproduceOptions {
  std::string folder = "reproduced";
  std::vector<std::string> only{};
  std::string threads;
  bool full = false;
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

Exit reproduce(const ReproduceOptions& options) {
  const std::vector<NamedPlan> plans = chosen_plans(options);
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
plans, results, figures and one report.html into the folder. Interrupted, the same command goes on.
With --full the plans themselves are run, whose results lie in experiments/results.

Examples:
  conclave reproduce -o claims
  conclave reproduce --only pll,prl -o two
  conclave reproduce --full --only prl -o rings)";

}  // namespace

void add_reproduce(Command& conclave) {
  auto options = std::make_shared<ReproduceOptions>();
  Command command =
      conclave.subcommand("reproduce", "Measure the papers' claims and write one report of them");
  command.option("-o,--output", "FOLDER", options->folder, "Where to (default reproduced)");
  command.list_option("--only", "NAME,...", options->only,
                      "Only these: pll, ppl, prl, electleader, kmpp, comparison");
  command.option("--threads", "K", options->threads,
                 "Worker threads; never changes a result (default: one per processor)");
  command.flag("--full", options->full,
               "The full grids, which take longer, instead of the reduced ones");
  command.flag("--mix-versions", options->mix_versions,
               "Go on with files that another version of conclave has begun");
  command.flag("--quiet", options->quiet, "No progress line and no summary on standard error");
  command.footer(reproduce_examples);
  command.runs([options] { return reproduce(*options); });
}

}  // namespace conclave::cli
