// `conclave sweep`: carries out a plan, or one protocol over sizes and parameters, from where it
// was left, and draws what comes of it.
//
// The file of results is locked while it is written; rows are committed about every second, and
// what was committed survives the end of the process, however it comes. Under mpirun the first rank
// keeps the file and hands out work, and the others run it (mpi/ranks.hpp).
#include "conclave/sweep/sweep.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/join_parts.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/cli/cli.hpp"
#include "conclave/cli/progress_line.hpp"
#include "conclave/cli/terminal.hpp"
#include "conclave/cli/version.hpp"
#include "conclave/experiment/run_options.hpp"
#include "conclave/experiment/runner.hpp"
#include "conclave/mpi/ranks.hpp"
#include "conclave/plot/figure.hpp"
#include "conclave/report/write_report.hpp"
#include "conclave/sweep/plan.hpp"
#include "conclave/sweep/plan_text.hpp"
#include "conclave/sweep/results.hpp"
#include "conclave/sweep/store.hpp"

namespace conclave::cli {
namespace {

// plan.toml -> plan.db, and plan.1-of-3.db for a shard.
std::string output_of(const SweepOptions& options, const sweep::Shard& shard) {
  if (!options.output.empty()) return options.output;
  const std::string stem = std::filesystem::path(options.plan).stem().string();
  if (shard.count == 1) return stem + ".db";
  std::string part = to_string(shard);
  part.replace(part.find('/'), 1, "-of-");
  return fmt::format("{}.{}.db", stem, part);
}

unsigned thread_count(const SweepOptions& options) {
  if (options.threads.empty()) return std::max(1u, std::thread::hardware_concurrency());
  return static_cast<unsigned>(count_option_64("--threads", options.threads, 1, 1024));
}

std::string bar(double fraction) {
  constexpr std::size_t width = 16;
  const auto filled = std::min(width, static_cast<std::size_t>(fraction * width));
  return fmt::format("[{}{}]", std::string(filled, '#'), std::string(width - filled, '-'));
}

LineParts progress_parts(const sweep::SweepProgress& now, double seconds, unsigned workers) {
  const double fraction =
      now.trials == 0 ? 1.0
                      : static_cast<double>(now.trials_done) / static_cast<double>(now.trials);
  LineParts parts{
      {bar(fraction), 3},
      {fmt::format("cell {} of {}", std::min(now.cells_done + 1, now.cells), now.cells), 4},
      {fmt::format("trial {} of {}", now.trials_done, now.trials), 6},
      {fmt::format("{:.3g} trials/s", static_cast<double>(now.trials_run) / seconds), 1},
      {fmt::format("{:.3g} steps/s", now.steps / seconds), 0},
      {duration_text(seconds), 2}};
  if (now.seconds_left > 0) {
    const double left = now.seconds_left / workers;
    parts.push_back({fmt::format("about {} left", duration_text(left)), 5});
  }
  return parts;
}

void print_summary(const sweep::SweepProgress& now, const std::string& path, double seconds) {
  const std::uint64_t before = now.trials_done - now.trials_run;
  tell("{}: {} of {} trials in {} cell{}, {} run in {}{}\n", path, now.trials_done, now.trials,
       now.cells, now.cells == 1 ? "" : "s", now.trials_run, duration_text(seconds),
       before > 0 ? fmt::format(", {} there from before", before) : "");
}

void print_estimate(const sweep::Plan& plan, const sweep::Shard& shard, unsigned threads,
                    const std::atomic<bool>& stop) {
  constexpr const char* layout = "{:>5} {:>9} {:>14} {:>12} {:>13}  {}\n";
  fmt::print(layout, "CELL", "TRIALS", "STEPS / TRIAL", "TIME / TRIAL", "TIME", "RUN");
  double sum = 0;
  bool is_bound = false;
  for (std::size_t id = 0; id < plan.cells.size() && !stop; ++id) {
    const sweep::Cell& cell = plan.cells[id];
    const sweep::Pilot pilot = sweep::run_pilot(plan, id, stop);
    const std::uint64_t trials = sweep::trials_in(shard, id, cell.sampling);
    const double seconds = pilot.seconds * static_cast<double>(trials);
    const std::string more = pilot.is_complete ? "" : "> ";
    fmt::print(layout, id, fmt::format("{}{}", cell.sampling.precision > 0 ? "<= " : "", trials),
               fmt::format("{}{:.3g}", more, pilot.steps), more + duration_text(pilot.seconds),
               more + duration_text(seconds), wrapped(sweep::cell_text(cell), output_width(), 59));
    sum += seconds;
    is_bound = is_bound || !pilot.is_complete;
  }
  const std::string estimate = fmt::format(
      "{} cells; {}{} of one processor, judging by the first trials of each cell (given up after "
      "a second at most); {} on {} thread{}",
      plan.cells.size(), is_bound ? "more than " : "about ", duration_text(sum),
      duration_text(sum / threads), threads, threads == 1 ? "" : "s");
  fmt::print("\n{}\n", wrapped(estimate, output_width(), 0));
}

// Whether the word is a protocol and no plan; a name with a size is one that may be misspelt.
bool is_protocol(const SweepOptions& options) {
  const bool is_listed = std::ranges::any_of(
      catalog::entries(), [&](const auto& entry) { return entry.info.name == options.plan; });
  constexpr std::array<std::string_view, 3> endings{".pp", ".crn", ".rules"};
  const bool is_file = std::ranges::any_of(
      endings, [&](std::string_view ending) { return options.plan.ends_with(ending); });
  return is_listed || is_file || (!options.words.n.empty() && !options.plan.ends_with(".toml"));
}

void refuse_words(const SweepOptions& options) {
  const auto given = experiment::given_options(options.words);
  const auto is_own = [](const auto& each) { return each.option != "seed" || each.value != "1"; };
  const auto found = std::ranges::find_if(given, is_own);
  if (found == given.end() && options.trials.empty()) return;
  throw Error(
      fmt::format("'{}' is a plan, which says itself what to run: --{} belongs to the sweep "
                  "of a protocol",
                  options.plan, found == given.end() ? "trials" : found->option));
}

sweep::Plan plan_of_protocol(const SweepOptions& options) {
  experiment::RunText words = options.words;
  words.protocol = options.plan;
  if (words.n.empty()) {
    throw Error(fmt::format("the sizes are missing, for example: conclave sweep {} --n 100..1e6",
                            words.protocol));
  }
  const std::string trials = options.trials.empty() ? "1" : options.trials;
  count_option_64("--trials", trials, 1, sweep::most_trials);
  return sweep::plan_of(words, trials);
}

sweep::Plan read_plan(const SweepOptions& options) {
  if (is_protocol(options)) return plan_of_protocol(options);
  refuse_words(options);
  return sweep::read_plan(
      options.plan, options.allow_outside ? sweep::Outside::allowed : sweep::Outside::refused);
}

sweep::Plan plan_of(const SweepOptions& options) {
  sweep::Plan plan = read_plan(options);
  report::check_laws(plan, options.laws);
  if (options.quiet) return plan;
  for (const std::string& warning : plan.warnings) tell("warning: {}\n", warning);
  return plan;
}

void check_memory(const sweep::Plan& plan) {
  constexpr double gib = 1024.0 * 1024 * 1024;
  const std::uint64_t memory = experiment::available_memory();
  for (const sweep::Cell& cell : plan.cells) {
    if (cell.bytes <= memory) continue;
    throw Error(fmt::format("a trial of {} needs {:.3g} GiB, and {:.3g} GiB are free",
                            sweep::cell_text(cell), static_cast<double>(cell.bytes) / gib,
                            static_cast<double>(memory) / gib));
  }
}

// Shows the laws and the picture, as far as they were asked for.
void show_growth(const SweepOptions& options, const std::string& path) {
  const bool is_asked = !options.plot.empty() || !options.laws.empty();
  if (!is_asked && (options.quiet || !is_protocol(options))) return;
  const std::string verdict = report::draw_growth(path, options.plot, options.laws, {});
  if (options.quiet) return;
  for (const std::string_view line : split_parts(verdict, '\n')) {
    fmt::print("{}\n", wrapped(line, output_width(), 2));
  }
}

// Opens the file, lets `work` do what there is to do, and says what was done.
Exit run_plan(const sweep::Plan& plan, const SweepOptions& options, const sweep::Shard& shard,
              unsigned workers, std::uint64_t memory,
              const std::function<void(sweep::Sweep&)>& work) {
  check_memory(plan);
  const std::string path = output_of(options, shard);
  sweep::Store store(path, plan,
                     {.code = code_version(),
                      .shard = shard,
                      .extends = options.extend,
                      .mixes_versions = options.mix_versions});
  sweep::Sweep sweep(plan, shard, sweep::Results(path), store, memory);
  const auto begin = std::chrono::steady_clock::now();
  {
    const RepaintedLine line(options.quiet, [&] {
      return progress_parts(sweep.progress(), seconds_since(begin), workers);
    });
    work(sweep);
  }
  if (!options.quiet) print_summary(sweep.progress(), path, seconds_since(begin));
  if (!sweep.is_complete()) return Exit::interrupted;
  show_growth(options, path);
  return sweep::Results(path).not_converged() > 0 ? Exit::not_converged : Exit::done;
}

// mpirun, or srun, or whatever has started several of us, says so to each.
bool is_one_of_many() {
  constexpr std::array<const char*, 2> sizes{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};
  return std::ranges::any_of(sizes, [](const char* name) {
    const char* const size = std::getenv(name);  // NOLINT: read only, before other threads start
    return size != nullptr && std::string_view(size) != "1";
  });
}

Exit run_ranks(const SweepOptions& options, const sweep::Shard& shard,
               const std::atomic<bool>& stop) {
  mpi::Ranks ranks;
  if (!ranks.is_owner()) {
    ranks.work(stop);
    return stop ? Exit::interrupted : Exit::done;
  }
  if (!options.threads.empty()) {
    throw Error("under mpirun every rank runs one trial at a time: start more ranks instead of "
                "giving --threads");
  }
  const sweep::Plan plan = plan_of(options);
  // mpirun decides how many ranks a machine holds.
  return run_plan(plan, options, shard, ranks.count(), UINT64_MAX,
                  [&](sweep::Sweep& sweep) { ranks.serve(plan, sweep, stop); });
}

Exit run(const SweepOptions& options) {
  const sweep::Shard shard =
      options.shard.empty() ? sweep::Shard{} : sweep::parse_shard(options.shard);
  const std::atomic<bool>& stop = interrupted_flag();
  if (is_one_of_many() && !options.dry_run) return run_ranks(options, shard, stop);
  const unsigned threads = thread_count(options);
  if (!options.plot.empty()) plot::kind_of(options.plot);  // objects at once
  const sweep::Plan plan = plan_of(options);
  if (options.dry_run) {
    print_estimate(plan, shard, threads, stop);
    return stop ? Exit::interrupted : Exit::done;
  }
  return run_plan(plan, options, shard, threads, experiment::available_memory(),
                  [&](sweep::Sweep& sweep) { sweep.work(threads, stop); });
}

constexpr const char* sweep_examples = R"(
A protocol needs no plan; what it sweeps is kept with the results as one. A plan is a TOML file:
protocols, grids of n and parameters, trials (docs/how-to/sweeps.md).

  seed = 3
  trials = 200
  [[run]]
  protocol = "prl"
  n = [50, 100]
  init = ["random", "all-leaders"]
  params = { N = ["n", "4*n"] }

A run with kind = "rare" has the options of `conclave rare` as keys, and its repetitions as trials
(docs/explanation/rare.md).

Examples:
  conclave sweep my.pp --n 100..1e6 --trials 50 --plot growth.pdf
  conclave sweep pll --n 64..4096:2 --trials 100 --law 'a*log(n)+b' -o pll.db
  conclave sweep plan.toml --dry-run            the cells, and how long they will take
  conclave sweep plan.toml -o results.db        run or resume
  conclave sweep plan.toml --shard 2/5          one part of five, for `conclave merge`
  mpirun conclave sweep plan.toml               on many machines
  conclave results results.db                   what has been found

Exit status: 0 done, 1 failed (a full disk: what was committed is kept), 2 misused, 3 some trial did
not converge within its limit, 130 interrupted (the same command resumes).)";

}  // namespace

Exit carry_out(const SweepOptions& options) { return run(options); }

void add_sweep(Command& conclave) {
  auto options = std::make_shared<SweepOptions>();
  Command command =
      conclave.subcommand("sweep", "Run a protocol over sizes and parameters, or a plan; stop and "
                                   "resume it at will");
  command.word(
      "WHAT", options->plan,
      "A plan (a file in TOML), or a protocol: a name from `conclave list`, my.pp, my.crn");
  command.option("-o,--output", "FILE", options->output,
                 "The file of results (default: the name of the plan or protocol with .db)");
  command.option("--plot", "FIGURE", options->plot,
                 "Draw the growth with its laws: .svg, .pdf, .png, .csv or .tex");
  command.repeatable_option("--law", "LAW", options->laws,
                            "Fit this law of n and parameters, such as 'a*n*log(n)+b*n', instead "
                            "of the usual ones; repeatable");
  command.option("--trials", "T", options->trials,
                 "Of a protocol: trials of each cell (default 1)");
  command.run_options(
      experiment::by_run, options->words,
      {{"n", "Of a protocol, as all further options: sizes and ranges, 1e3,1e4 or "
             "100..1e6 (two per power of ten) or 64..4096:2"},
       {"param", "NAME=VALUE,...; the values may be expressions such as 4*ceil(lg(n)); "
                 "repeatable"}});
  command.option("--threads", "K", options->threads,
                 "Worker threads; never changes a result (default: one per processor)");
  command.option("--shard", "I/K", options->shard, "Run only part I of K (0/K is the same as K/K)");
  command.flag("--dry-run", options->dry_run, "Print the cells and an estimate of the work");
  command.flag("--extend", options->extend,
               "The plan has more cells or trials than before: keep the rows, run what is new");
  command.flag("--mix-versions", options->mix_versions,
               "Continue a file that another version of conclave has begun");
  command.flag("--allow-outside", options->allow_outside,
               "The plan may name files that lie neither in its folder nor below");
  command.flag("--quiet", options->quiet, "No progress line and no summary on standard error");
  command.file_size_option();
  command.footer(sweep_examples);
  command.runs([options] { return run(*options); });
}

}  // namespace conclave::cli
