// `conclave run`: trials of one protocol, as rows or as statistics.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/output.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/cli/cli.hpp"
#include "conclave/cli/progress.hpp"
#include "conclave/cli/terminal.hpp"
#include "conclave/experiment/fault_text.hpp"
#include "conclave/experiment/memory.hpp"
#include "conclave/experiment/row.hpp"
#include "conclave/experiment/run_text.hpp"
#include "conclave/experiment/runner.hpp"
#include "conclave/experiment/summary.hpp"

namespace conclave::cli {
namespace {

struct Options {
  experiment::RunText words{.engine = "auto"};
  std::string trials = "1";
  std::string threads;
  std::string format = "table";
  std::string output;
  std::string trace;
  std::string trace_grid = "log";
  bool quiet = false;
};

constexpr std::array<std::string_view, 4> formats{"table", "jsonl", "csv", "json"};

catalog::RunRequest request(const Options& options) {
  catalog::RunRequest result = experiment::request_of(options.words);
  const TraceGrid grid = experiment::parse_grid(options.trace_grid);
  if (!options.trace.empty()) result.plan.grid = grid;
  return result;
}

std::optional<unsigned> asked_threads(const Options& options) {
  if (options.threads.empty()) return std::nullopt;
  return static_cast<unsigned>(count_option_64("--threads", options.threads, 1, 1024));
}

// Writes rows in one of the formats.
class RowWriter {
 public:
  RowWriter(const Options& options, const catalog::PreparedRun& run)
      : format_(options.format), rows_(run), summary_(run), output_(options.output) {
    if (format_ == "json") output_.write("{\"rows\":[");
    if (!options.trace.empty()) trace_.emplace(options.trace);
  }

  void take(const experiment::Row& row) {
    summary_.add(row);
    if (format_ == "jsonl") output_.write(rows_.json(row) + '\n');
    if (format_ == "json") output_.write((first_ ? "\n" : ",\n") + rows_.json(row));
    if (format_ == "csv" && first_) output_.write(rows_.csv_header() + '\n');
    if (format_ == "csv") output_.write(rows_.csv(row) + '\n');
    if (trace_) trace_->write((first_ ? rows_.trace_header(row) : "") + rows_.trace(row));
    first_ = false;
  }

  // After an interrupt the rows are the first ones in trial order, and fewer than `asked`.
  void finish(std::uint64_t asked) {
    if (summary_.trials() < asked) summary_.mark_interrupted(asked);
    if (format_ == "json") output_.write("\n],\n\"summary\":" + summary_.json() + "}\n");
    if (format_ == "table") output_.write(summary_.table());
    output_.finish();
    if (trace_) trace_->finish();
  }

  const experiment::RunSummary& summary() const { return summary_; }

 private:
  std::string_view format_;
  experiment::RowFormat rows_;
  experiment::RunSummary summary_;
  Output output_;
  std::optional<Output> trace_;
  bool first_ = true;
};

void print_timing(const experiment::RunSummary& summary, const experiment::Progress& progress,
                  std::string_view steps, double seconds, unsigned threads) {
  tell("{} trial{}, {:.3g} {} in {} on {} thread{} ({:.3g} per second)\n", summary.trials(),
       summary.trials() == 1 ? "" : "s", progress.interactions.load(), steps,
       duration_text(seconds), threads, threads == 1 ? "" : "s",
       progress.interactions.load() / seconds);
  if (progress.effective > 0) {
    const auto effective = static_cast<double>(progress.effective.load());
    tell("{:.3g} of them effective ({:.3g} per second), the rest jumped over\n", effective,
         effective / seconds);
  }
}

void print_warnings(std::span<const std::string> warnings) {
  for (const std::string& warning : warnings) tell("warning: {}\n", warning);
}

Exit run(const Options& options) {
  if (std::ranges::find(formats, options.format) == formats.end()) {
    throw Error(unknown_name("format", options.format, formats));
  }
  if (is_same_output(options.output, options.trace)) {
    throw Error(fmt::format("--output and --trace are both '{}': rows and trace need a file each",
                            options.trace));
  }
  const catalog::Entry& entry = catalog::find(options.words.protocol);
  const std::uint64_t trials = count_option_64("--trials", options.trials, 1, UINT64_MAX);
  const auto prepared = entry.prepare(request(options));
  if (!options.quiet) print_warnings(prepared->warnings());
  const unsigned threads = experiment::worker_count(*prepared, trials, asked_threads(options),
                                                    experiment::available_memory());
  const std::string_view steps = entry.network ? "messages" : "interactions";
  RowWriter writer(options, *prepared);
  experiment::Progress progress;
  const std::atomic<bool>& stop = interrupted_flag();
  const auto begin = std::chrono::steady_clock::now();
  {
    const ProgressLine line(fmt::format("{} n = {}", options.words.protocol, prepared->n()), trials,
                            progress, options.quiet, steps);
    experiment::run_trials(
        *prepared, {.trials = trials, .threads = threads},
        [&](const experiment::Row& row) { writer.take(row); }, progress, stop);
  }
  writer.finish(trials);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  if (!options.quiet) print_timing(writer.summary(), progress, steps, elapsed.count(), threads);
  if (stop) {
    if (!options.quiet)
      tell("interrupted: {} of {} trials, the first ones in trial order\n",
           writer.summary().trials(), trials);
    return Exit::interrupted;
  }
  return writer.summary().not_converged() > 0 ? Exit::not_converged : Exit::done;
}

constexpr const char* examples = R"(
Examples:
  conclave run pll --n 1e6 --trials 100
  conclave run pll --n 2^20 --param m=25 --seed 7 --format jsonl > rows.jsonl
  conclave run pll --n 1000 --trials 1e4 --param reading=printed --max-parallel-time 1e5
  conclave run fratricide --n 1000 --trials 1000 --format csv --output rows.csv
  conclave run prl --n 1000 --init all-leaders --fault 'corrupt:50%@convergence+100' --trials 20
  conclave run pll --n 1e5 --trials 5 --trace pll.csv && conclave plot pll.csv -o pll.svg
  conclave run kmpp-async --n 1e4 --trials 100 --delay slow-leader --wakeup chain

Exit status: 0 done, 1 failed, 2 misused, 3 some trial did not converge within its limit,
130 interrupted (finished rows are kept).)";

void add_network_options(Command& command, Options& options) {
  command.option("--delay", "NAME", options.words.delay,
                 "Message passing: how long messages take (see `describe`; default unit)");
  command.option("--wakeup", "NAME", options.words.wakeup,
                 "Message passing: who is woken when (see `describe`; default all)");
  command.option("--ids", "NAME", options.words.ids,
                 "Message passing: unique or anonymous nodes (default unique)");
  command.flag("--count-edges", options.words.count_edges,
               "Message passing: count messages by edge also above 1e5 nodes");
}

}  // namespace

void add_run(Command& conclave) {
  auto options = std::make_shared<Options>();
  Command command = conclave.subcommand("run", "Run trials of a protocol");
  command.word("PROTOCOL", options->words.protocol,
               "A name from `conclave list`, or a file: my.pp");
  command.option("--n", "N", options->words.n, "Population size: 1000, 1e6, 2^20");
  command.option("--trials", "T", options->trials, "Number of trials (default 1)");
  command.option("--seed", "S", options->words.seed,
                 "Seed; with it everything repeats (default 1)");
  command.param_option(options->words.params);
  command.option("--init", "NAME", options->words.init, "Initial configuration (see `describe`)");
  command.option("--engine", "NAME", options->words.engine,
                 "auto, or one that `describe` names (default auto)");
  command.option("--graph", "GRAPH", options->words.graph,
                 "complete, ring, undirected-ring, grid:RxC, regular:D, gnp:P or file:PATH, for "
                 "protocols that allow it");
  command.option("--max-parallel-time", "X", options->words.max_parallel_time,
                 "Give up after this many interactions per agent");
  command.option("--max-interactions", "X", options->words.max_interactions,
                 "Give up after this many interactions");
  command.option("--threads", "K", options->threads,
                 "Worker threads; never changes a result (default: one per processor)");
  command.option("--format", "F", options->format, "table, jsonl, csv or json (default table)");
  command.option("-o,--output", "FILE", options->output,
                 "Write to FILE instead of standard output; it appears when complete");
  command.repeatable_option(
      "--fault", "FAULT", options->words.faults,
      "WHAT@TIME: corrupt:K, corrupt:P%, zero:P%, kill-leaders, make-leaders:K, at a "
      "parallel time or at convergence+T; repeatable");
  command.option("--trace", "FILE", options->trace,
                 "Write leaders and observables over time to FILE (CSV, for `conclave plot`)");
  command.option("--trace-grid", "GRID", options->trace_grid,
                 "When to look: log, log:FACTOR or linear:STEP of parallel time (default log)");
  add_network_options(command, *options);
  command.flag("--quiet", options->quiet, "No progress line and no timing on standard error");
  command.footer(examples);
  command.runs([options] { return run(*options); });
}

}  // namespace conclave::cli
