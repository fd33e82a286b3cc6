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
#include "conclave/experiment/execution_text.hpp"
#include "conclave/experiment/history.hpp"
#include "conclave/experiment/memory.hpp"
#include "conclave/experiment/row.hpp"
#include "conclave/experiment/run_options.hpp"
#include "conclave/experiment/runner.hpp"
#include "conclave/experiment/summary.hpp"

namespace conclave::cli {
namespace {

struct RunOptions {
  experiment::RunText words{.engine = "auto"};
  experiment::ExecutionText execution;
};

catalog::RunRequest request(const catalog::Entry& entry, const RunOptions& options) {
  std::shared_ptr<const catalog::GivenStart> given;
  experiment::RunText words = options.words;
  if (!options.execution.init_from.empty()) {
    if (!words.init.empty()) {
      throw Error("--init and --init-from contradict each other: give one");
    }
    given = experiment::read_configuration(options.execution.init_from);
    if (words.n.empty()) words.n = to_string(experiment::agents_in(*given));
  }
  catalog::RunRequest result = experiment::request_of(entry, words);
  result.given = std::move(given);
  experiment::plan_samples(options.execution, result.n, result.plan);
  return result;
}

// Writes rows in one of the row_formats.
class RowWriter {
 public:
  RowWriter(const experiment::ExecutionText& files, const catalog::PreparedRun& run,
            std::uint64_t trials)
      : format_(files.format),
        width_(output_width(files.output)),
        rows_(run),
        summary_(run),
        output_(files.output),
        has_trials_(trials > 1) {
    if (format_ == "json") output_.write("{\"rows\":[");
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
    if (format_ == "jsonl") output_.write((first_ ? "" : "}\n") + rows_.unclosed_json(row));
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

  // After an interrupt the rows are the first ones in trial order, and fewer than `asked`; then the
  // last row says so.
  void finish(std::uint64_t asked) {
    const bool is_interrupted = summary_.trials() < asked;
    if (is_interrupted) summary_.mark_interrupted(asked);
    if (format_ == "jsonl" && !first_) {
      output_.write(is_interrupted ? experiment::interrupted_end(asked) : "}");
      output_.write("\n");
    }
    if (format_ == "csv" && is_interrupted) {
      output_.write(experiment::interrupted_line(summary_.trials(), asked));
    }
    if (format_ == "json") output_.write("\n],\n\"summary\":" + summary_.json() + "}\n");
    if (format_ == "table") output_.write(summary_.table(width_));
    output_.finish();
    if (trace_) trace_->finish();
    if (history_) history_->finish();
    if (final_) final_->finish();
  }

  const experiment::RunSummary& summary() const { return summary_; }

 private:
  std::string_view format_;
  std::size_t width_;  // of the table
  experiment::RowFormat rows_;
  experiment::RunSummary summary_;
  Output output_;
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
  const experiment::ExecutionText& execution = options.execution;
  experiment::check_outputs(execution, options.words);
  const catalog::Entry& entry = catalog::find(options.words.protocol);
  const std::uint64_t trials = count_of(execution, &experiment::ExecutionText::trials);
  catalog::RunRequest wanted = request(entry, options);
  wanted.plan.keeps_census_at_horizon = execution.format == "table";
  wanted.trials = trials;
  wanted.threads =
      asked_threads(execution).value_or(std::max(1u, std::thread::hardware_concurrency()));
  const auto prepared = entry.prepare(wanted);
  if (!execution.quiet) print_warnings(prepared->warnings());
  const unsigned threads = experiment::worker_count(*prepared, trials, asked_threads(execution));
  const std::string_view steps = entry.network ? "messages" : "interactions";
  RowWriter writer(execution, *prepared, trials);
  experiment::Progress progress;
  const std::atomic<bool>& stop = interrupted_flag();
  const auto begin = std::chrono::steady_clock::now();
  {
    const ProgressLine line(fmt::format("{} n = {}", options.words.protocol, prepared->n()), trials,
                            progress, execution.quiet, steps, trial_scale(*prepared));
    experiment::run_trials(
        *prepared, {.trials = trials, .threads = threads},
        [&](const experiment::Row& row) { writer.take(row); }, progress, stop);
  }
  writer.finish(trials);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  if (!execution.quiet) print_timing(writer.summary(), progress, steps, elapsed.count(), threads);
  if (stop && writer.summary().trials() < trials) {
    if (!execution.quiet)
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

}  // namespace

void add_run(Command& conclave) {
  auto options = std::make_shared<RunOptions>();
  Command command = conclave.subcommand("run", "Run trials of a protocol");
  command.word("PROTOCOL", options->words.protocol,
               "A name from `conclave list`, or a file: my.pp, my.crn");
  command.run_options(experiment::by_run, options->words);
  command.run_options(experiment::by_run, options->execution);
  command.file_size_option();
  command.footer(run_examples);
  command.runs([options] {
    options->execution.format = format_option(options->execution.format, row_formats);
    return run(*options);
  });
}

}  // namespace conclave::cli
