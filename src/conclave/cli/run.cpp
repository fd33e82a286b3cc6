// `conclave run`: trials of one protocol, as rows or as statistics.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/output.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/cli/cli.hpp"
#include "conclave/cli/progress.hpp"
#include "conclave/cli/terminal.hpp"
#include "conclave/experiment/configuration_file.hpp"
#include "conclave/experiment/history.hpp"
#include "conclave/experiment/memory.hpp"
#include "conclave/experiment/row.hpp"
#include "conclave/experiment/run_outputs.hpp"
#include "conclave/experiment/run_text.hpp"
#include "conclave/experiment/runner.hpp"
#include "conclave/experiment/summary.hpp"

namespace conclave::cli {
namespace {

struct RunOptions {
  experiment::RunText words{.engine = "auto"};
  std::string trials = "1";
  std::string threads;
  std::string format = "table";
  experiment::RunOutputs outputs;
  std::string init_from;
  bool quiet = false;
};

catalog::RunRequest request(const RunOptions& options) {
  std::shared_ptr<const catalog::GivenStart> given;
  experiment::RunText words = options.words;
  if (!options.init_from.empty()) {
    if (!words.init.empty()) {
      throw Error("--init and --init-from contradict each other: give one");
    }
    given = experiment::read_configuration(options.init_from);
    if (words.n.empty()) words.n = to_string(experiment::agents_in(*given));
  }
  catalog::RunRequest result = experiment::request_of(words);
  result.given = std::move(given);
  experiment::plan_looks(options.outputs, result.n, result.plan);
  return result;
}

std::optional<unsigned> asked_threads(const RunOptions& options) {
  if (options.threads.empty()) return std::nullopt;
  return static_cast<unsigned>(count_option_64("--threads", options.threads, 1, 1024));
}

// Writes rows in one of the row_formats.
class RowWriter {
 public:
  RowWriter(const RunOptions& options, const catalog::PreparedRun& run, std::uint64_t trials)
      : format_(options.format),
        width_(output_width(options.outputs.output)),
        rows_(run),
        summary_(run),
        output_(options.outputs.output),
        has_trials_(trials > 1) {
    if (format_ == "json") output_.write("{\"rows\":[");
    const experiment::RunOutputs& files = options.outputs;
    if (!files.trace.empty()) trace_.emplace(files.trace);
    if (!files.history.empty()) {
      history_.emplace(files.history,
                       experiment::history_format(files.history_format, files.history),
                       files.history_by);
    }
    if (files.final_file.empty()) return;
    final_.emplace(files.final_file);
    final_->write(experiment::configuration_header(has_trials_));
  }

  void take(const experiment::Row& row) {
    summary_.add(row);
    if (format_ == "jsonl") hold_back(rows_.json(row) + '\n');
    if (format_ == "json") output_.write((first_ ? "\n" : ",\n") + rows_.json(row));
    if (format_ == "csv" && first_) output_.write(rows_.csv_header() + '\n');
    if (format_ == "csv") output_.write(rows_.csv(row) + '\n');
    if (trace_) trace_->write((first_ ? rows_.trace_header(row) : "") + rows_.trace(row));
    if (history_) history_->add(row.trial, row.result.history);
    if (final_) {
      final_->write(
          experiment::configuration_lines(row.trial, has_trials_, row.result.final_agents));
    }
    first_ = false;
  }

  // After an interrupt the rows are the first ones in trial order, and fewer than `asked`.
  void finish(std::uint64_t asked) {
    if (summary_.trials() < asked) mark_interrupted(asked);
    hold_back({});
    if (format_ == "json") output_.write("\n],\n\"summary\":" + summary_.json() + "}\n");
    if (format_ == "table") output_.write(summary_.table(width_));
    output_.finish();
    if (trace_) trace_->finish();
    if (history_) history_->finish();
    if (final_) final_->finish();
  }

  const experiment::RunSummary& summary() const { return summary_; }

 private:
  // The last line is written when it is known whether a row follows: after an interrupt it says so.
  void hold_back(std::string line) { output_.write(std::exchange(held_back_, std::move(line))); }

  void mark_interrupted(std::uint64_t asked) {
    summary_.mark_interrupted(asked);
    if (!held_back_.empty()) {
      held_back_.resize(held_back_.size() - 2);  // a brace and the end of the line
      held_back_ += fmt::format(",\"interrupted\":true,\"asked\":{}}}\n", asked);
    }
    if (format_ == "csv") {
      output_.write(fmt::format("# interrupted: {} of {} trials\n", summary_.trials(), asked));
    }
  }

  std::string_view format_;
  std::size_t width_;  // of the table
  experiment::RowFormat rows_;
  experiment::RunSummary summary_;
  Output output_;
  std::string held_back_;
  std::optional<Output> trace_;
  std::optional<experiment::HistoryWriter> history_;
  std::optional<Output> final_;
  bool has_trials_;
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

// The scale on which the progress line shows how far one trial is.
TrialScale trial_scale(const catalog::PreparedRun& run) {
  const TrialPlan& plan = run.plan();
  TrialScale scale{.agents = static_cast<double>(run.n())};
  if (plan.limit != Interactions::max()) scale.most_time = plan.limit.as_double() / scale.agents;
  if (plan.until) scale.most_time = plan.until->time.as_double();
  return scale;
}

void print_warnings(std::span<const std::string> warnings) {
  for (const std::string& warning : warnings) tell("warning: {}\n", warning);
}

Exit run(const RunOptions& options) {
  experiment::check_outputs(options.outputs, options.words, options.init_from);
  const catalog::Entry& entry = catalog::find(options.words.protocol);
  const std::uint64_t trials = count_option_64("--trials", options.trials, 1, UINT64_MAX);
  catalog::RunRequest wanted = request(options);
  wanted.plan.keeps_census_at_horizon = options.format == "table";
  wanted.trials = trials;
  wanted.threads =
      asked_threads(options).value_or(std::max(1u, std::thread::hardware_concurrency()));
  const auto prepared = entry.prepare(wanted);
  if (!options.quiet) print_warnings(prepared->warnings());
  const unsigned threads = experiment::worker_count(*prepared, trials, asked_threads(options),
                                                    experiment::available_memory());
  const std::string_view steps = entry.network ? "messages" : "interactions";
  RowWriter writer(options, *prepared, trials);
  experiment::Progress progress;
  const std::atomic<bool>& stop = interrupted_flag();
  const auto begin = std::chrono::steady_clock::now();
  {
    const ProgressLine line(fmt::format("{} n = {}", options.words.protocol, prepared->n()), trials,
                            progress, options.quiet, steps, trial_scale(*prepared));
    experiment::run_trials(
        *prepared, {.trials = trials, .threads = threads},
        [&](const experiment::Row& row) { writer.take(row); }, progress, stop);
  }
  writer.finish(trials);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  if (!options.quiet) print_timing(writer.summary(), progress, steps, elapsed.count(), threads);
  if (stop && writer.summary().trials() < trials) {
    if (!options.quiet)
      tell("interrupted: {} of {} trials, the first ones in trial order\n",
           writer.summary().trials(), trials);
    return Exit::interrupted;
  }
  return writer.summary().not_converged() > 0 ? Exit::not_converged : Exit::done;
}

constexpr const char* run_examples = R"(
Examples:
  conclave run pll --n 1e6 --trials 100
  conclave run pll --n 2^20 --param m=25 --seed 7 --format jsonl > rows.jsonl
  conclave run pll --n 1000 --trials 1e4 --param reading=printed --max-parallel-time 1e5
  conclave run fratricide --n 1000 --trials 1000 --format csv --output rows.csv
  conclave run prl --n 1000 --init all-leaders --fault 'corrupt:50%@convergence+100' --trials 20
  conclave run pll --n 1e5 --trials 5 --trace pll.csv && conclave plot pll.csv -o pll.svg
  conclave run protocols/lotka_volterra.crn --n 1e8 --until 20 --every 0.1 --history lv.csv
  conclave run kmpp-async --n 1e4 --trials 100 --delay slow-leader --wakeup chain
  conclave run pll --n 1e5 --until 20 --every 0.5 --history h.csv --final middle.csv

Exit status: 0 done, 1 failed, 2 misused, 3 some trial did not converge within its limit,
130 interrupted (finished rows are kept, and the last one says so).)";

void add_network_options(Command& command, RunOptions& options) {
  command.option("--delay", "NAME", options.words.delay,
                 "Message passing: how long messages take (see `describe`; default unit), or their "
                 "order by hand, order:FROM-TO/FROM-TO/...");
  command.option("--wakeup", "NAME", options.words.wakeup,
                 "Message passing: who is woken when (see `describe`; default all)");
  command.option("--ids", "NAME", options.words.ids,
                 "Message passing: unique or anonymous nodes (default unique)");
  command.flag("--count-edges", options.words.count_edges,
               "Message passing: count messages by edge also above 1e5 nodes");
}

}  // namespace

void add_run(Command& conclave) {
  auto options = std::make_shared<RunOptions>();
  Command command = conclave.subcommand("run", "Run trials of a protocol");
  command.word("PROTOCOL", options->words.protocol,
               "A name from `conclave list`, or a file: my.pp, my.crn");
  command.option("--n", "N", options->words.n, "Population size: 1000, 1e6, 2^20");
  command.option("--trials", "T", options->trials, "Number of trials (default 1)");
  command.option("--seed", "S", options->words.seed,
                 "Seed; the same seed gives the same results (default 1)");
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
  command.option("--until", "T", options->words.until,
                 "Run every trial to parallel time T, converged or not; convergence,T: to "
                 "whichever comes first");
  command.option("--init-from", "FILE", options->init_from,
                 "Start from a configuration that --final wrote; --n follows from it");
  command.option("--threads", "K", options->threads,
                 "Worker threads; never changes a result (default: one per processor)");
  command.option("--format", "F", options->format, "table, jsonl, csv or json (default table)");
  command.option("-o,--output", "FILE", options->outputs.output,
                 "Write to FILE instead of standard output; it appears when complete");
  command.repeatable_option(
      "--fault", "FAULT", options->words.faults,
      "WHAT@TIME: corrupt:K, corrupt:P%, zero:P%, kill-leaders, make-leaders:K, at a "
      "parallel time or at convergence+T; repeatable");
  command.option("--trace", "FILE", options->outputs.trace,
                 "Write leaders and observables over time to FILE (CSV, for `conclave plot`)");
  command.option("--trace-grid", "GRID", options->outputs.trace_grid,
                 "When to look: log, log:FACTOR or linear:STEP of parallel time (default log)");
  command.option("--every", "DT", options->outputs.every,
                 "Look at all multiples of this parallel time, instead of --trace-grid");
  command.option("--history", "FILE", options->outputs.history,
                 "Write how many agents are in each state at every look (CSV; .npy for NumPy)");
  command.option("--history-by", "FIELD", options->outputs.history_by,
                 "Count agents by the value of this field of their states");
  command.option("--history-format", "F", options->outputs.history_format,
                 "wide: a column per state, long: a line per state, or npy (default by FILE)");
  command.option("--final", "FILE", options->outputs.final_file,
                 "Write the configuration at the end of each trial to FILE (CSV)");
  add_network_options(command, *options);
  command.flag("--quiet", options->quiet, "No progress line and no timing on standard error");
  command.file_size_option();
  command.footer(run_examples);
  command.runs([options] {
    options->format = format_option(options->format, row_formats);
    return run(*options);
  });
}

}  // namespace conclave::cli
