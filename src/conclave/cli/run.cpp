// `conclave run`: trials of one protocol, as rows or as statistics.
//
// The words of the options become a request (experiment/run_text.hpp), the catalog prepares it, and
// the runner hands over rows in trial order, whichever thread finishes first: an interrupted run
// keeps the first ones. What goes to standard output and to files depends on the options alone,
// byte for byte; progress, timing and warnings go to standard error.
#include <algorithm>
#include <array>
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
#include "conclave/cli/progress_line.hpp"
#include "conclave/cli/terminal.hpp"
#include "conclave/experiment/execution_text.hpp"
#include "conclave/experiment/history.hpp"
#include "conclave/experiment/row.hpp"
#include "conclave/experiment/run_options.hpp"
#include "conclave/experiment/runner.hpp"
#include "conclave/experiment/summary.hpp"
#include "conclave/sweep/plan_text.hpp"

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

// Writes the rows of one run after the other in one of the row_formats.
class RowWriter {
 public:
  RowWriter(const experiment::ExecutionText& files, std::uint64_t trials,
            std::span<const Variable> variables)
      : format_(files.format),
        width_(output_width(files.output)),
        output_(files.output),
        has_trials_(trials > 1) {
    if (format_ == "json") output_.write("{\"rows\":[");
    if (!files.trace.empty()) trace_.emplace(files.trace);
    if (!files.history.empty()) {
      history_.emplace(files.history,
                       experiment::history_format(files.history_format, files.history),
                       files.history_by, variables);
    }
    if (files.final_file.empty()) return;
    final_.emplace(files.final_file);
    final_->write(experiment::configuration_header(has_trials_));
  }

  // The run must outlive what is written of it.
  void begin(const catalog::PreparedRun& run) {
    rows_.emplace(run);
    summary_.emplace(run);
  }

  void take(const experiment::Row& row) {
    summary_->add(row);
    if (format_ == "jsonl") output_.write((first_ ? "" : "}\n") + rows_->unclosed_json(row));
    if (format_ == "json") output_.write((first_ ? "\n" : ",\n") + rows_->json(row));
    if (format_ == "csv" && first_) output_.write(rows_->csv_header() + '\n');
    if (format_ == "csv") output_.write(rows_->csv(row) + '\n');
    if (trace_) trace_->write((first_ ? rows_->trace_header(row) : "") + rows_->trace(row));
    if (history_) history_->add(row.trial, row.result.history);
    if (final_) {
      final_->write(
          experiment::configuration_lines(row.trial, has_trials_, row.result.final_agents));
    }
    first_ = false;
  }

  // Ends this run. After an interrupt the rows are the first ones in trial order, and fewer than
  // `asked`; then the last row says so.
  void end(std::uint64_t asked) {
    const bool is_interrupted = summary_->trials() < asked;
    if (is_interrupted) summary_->mark_interrupted(asked);
    if (format_ == "jsonl" && is_interrupted && !first_) {
      row_end_ = experiment::interrupted_end(asked);
    }
    if (format_ == "csv" && is_interrupted) {
      output_.write(experiment::interrupted_line(summary_->trials(), asked));
    }
    if (format_ == "json") {
      summaries_ += fmt::format("{}{}", summaries_.empty() ? "" : ",\n", summary_->json());
    }
    if (format_ == "table") output_.write((runs_ > 0 ? "\n" : "") + summary_->table(width_));
    ++runs_;
  }

  // Ends all runs.
  void finish() {
    if (format_ == "jsonl" && !first_) output_.write(row_end_ + "\n");
    if (format_ == "json" && runs_ == 1) {
      output_.write("\n],\n\"summary\":" + summaries_ + "}\n");
    } else if (format_ == "json") {
      output_.write("\n],\n\"summaries\":[" + summaries_ + "]}\n");
    }
    output_.finish();
    if (trace_) trace_->finish();
    if (history_) history_->finish();
    if (final_) final_->finish();
  }

  const experiment::RunSummary& summary() const { return *summary_; }

 private:
  std::string_view format_;
  std::size_t width_;  // of the table
  std::optional<experiment::RowFormat> rows_;
  std::optional<experiment::RunSummary> summary_;
  std::string summaries_;
  std::string row_end_ = "}";  // of the last row in jsonl
  std::size_t runs_ = 0;
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

std::unique_ptr<const catalog::PreparedRun> prepared(const catalog::Entry& entry,
                                                     RunOptions options, const std::string& n,
                                                     std::uint64_t trials) {
  options.words.n = n;
  options.words.params = sweep::params_at(options.words);
  catalog::RunRequest wanted = request(entry, options);
  wanted.plan.keeps_census_at_horizon = options.execution.format == "table";
  wanted.trials = trials;
  wanted.threads =
      asked_threads(options.execution).value_or(std::max(1u, std::thread::hardware_concurrency()));
  return entry.prepare(wanted);
}

// The trials of one size; the last one finishes what is written.
Exit run_size(const RunOptions& options, const catalog::PreparedRun& prepared, bool is_last,
              RowWriter& writer) {
  const experiment::ExecutionText& execution = options.execution;
  const std::uint64_t trials = count_of(execution, &experiment::ExecutionText::trials);
  if (!execution.quiet) print_warnings(prepared.warnings());
  const unsigned threads = experiment::worker_count(prepared, trials, asked_threads(execution));
  const std::string_view steps = prepared.network() != nullptr ? "messages" : "interactions";
  writer.begin(prepared);
  experiment::Progress progress;
  const std::atomic<bool>& stop = interrupted_flag();
  std::optional<experiment::Violation> violation;
  const auto begin = std::chrono::steady_clock::now();
  try {
    const ProgressLine line(fmt::format("{} n = {}", options.words.protocol, prepared.n()), trials,
                            progress, execution.quiet, steps, trial_scale(prepared));
    experiment::run_trials(
        prepared,
        {.trials = trials,
         .threads = threads,
         .threads_per_trial = experiment::threads_per_trial(threads, asked_threads(execution))},
        [&](const experiment::Row& row) { writer.take(row); }, progress, stop);
  } catch (const experiment::Violation& found) {
    violation = found;
  }
  writer.end(violation ? writer.summary().trials() : trials);
  const bool is_interrupted = !violation && stop && writer.summary().trials() < trials;
  if (is_last || is_interrupted || violation) writer.finish();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  if (!execution.quiet) {
    print_timing(writer.summary(), progress, steps, elapsed.count(),
                 threads * progress.threads_per_trial);
  }
  if (violation) {
    tell("conclave: {}\n", violation->what());
    return Exit::does_not_hold;
  }
  if (is_interrupted) {
    if (!execution.quiet)
      tell("interrupted: {} of {} trials, the first ones in trial order\n",
           writer.summary().trials(), trials);
    return Exit::interrupted;
  }
  return writer.summary().not_converged() > 0 ? Exit::not_converged : Exit::done;
}

// The sizes that --n lists; the empty one stands for that of the file or of --init-from.
std::vector<std::string> sizes_of(const RunOptions& options) {
  const std::string& n = options.words.n;
  if (n.find(',') == n.npos && n.find("..") == n.npos) return {n};
  const experiment::ExecutionText& files = options.execution;
  const std::array<std::pair<const std::string&, std::string_view>, 4> of_one_size{
      {{files.trace, "--trace"},
       {files.history, "--history"},
       {files.final_file, "--final"},
       {files.init_from, "--init-from"}}};
  for (const auto& [file, option] : of_one_size) {
    if (file.empty()) continue;
    throw Error(fmt::format("{} is about one size, and --n {} has several", option, n));
  }
  return sweep::sizes_of(n);
}

Exit run(const RunOptions& options) {
  experiment::check_outputs(options.execution, options.words);
  const catalog::Entry entry = catalog::find(options.words.protocol);
  const std::uint64_t trials = count_of(options.execution, &experiment::ExecutionText::trials);
  std::vector<std::unique_ptr<const catalog::PreparedRun>> all;
  for (const std::string& n : sizes_of(options)) all.push_back(prepared(entry, options, n, trials));
  RowWriter writer(options.execution, trials, entry.info.variables);
  Exit worst = Exit::done;
  for (const auto& each : all) {
    const Exit ended = run_size(options, *each, &each == &all.back(), writer);
    if (ended != Exit::done) worst = ended;
    if (ended == Exit::interrupted || ended == Exit::does_not_hold) break;
  }
  return worst;
}

constexpr const char* run_examples = R"(
Examples:
  conclave run pll --n 1e6 --trials 100
  conclave run pll --n 1e3,1e4,1e5 --trials 20
  conclave run my.pp --init A=60,B=40
  conclave run protocols/modulo_count.pp --n 1e5 --check
  conclave run pll --n 2^20 --param m=25 --seed 7 --format jsonl > rows.jsonl
  conclave run pll --n 1000 --trials 1e4 --param reading=printed --max-parallel-time 1e5
  conclave run fratricide --n 1000 --trials 1000 --format csv --output rows.csv
  conclave run prl --n 1000 --init all-leaders --fault 'corrupt:50%@convergence+100' --trials 20
  conclave run pll --n 1e5 --trials 5 --trace pll.csv && conclave plot pll.csv -o pll.svg
  conclave run protocols/lotka_volterra.crn --n 1e8 --until 20 --every 0.1 --history lv.csv
  conclave run kmpp-async --n 1e4 --trials 100 --delay slow-leader --wakeup chain
  conclave run pll --n 1e5 --until 20 --every 0.5 --history h.csv --final middle.csv

Exit status: 0 done, 1 failed, 2 misused, 3 some trial did not converge within its limit,
4 a property of the file fails (--check; its trial is the last one),
130 interrupted (finished rows are kept, and the last one says so).)";

}  // namespace

void add_run(Command& conclave) {
  auto options = std::make_shared<RunOptions>();
  Command command = conclave.subcommand("run", "Run trials of a protocol");
  command.word("PROTOCOL", options->words.protocol,
               "A name from `conclave list`, or a file: my.pp, my.crn");
  command.run_options(
      experiment::by_run, options->words,
      {{"n", "Population size: 1000, 1e6, 2^20; also several, 1e3,1e4 or 1e3..1e6"}});
  command.run_options(experiment::by_run, options->execution);
  command.file_size_option();
  command.footer(run_examples);
  command.runs([options] {
    options->execution.format = format_option(options->execution.format, row_formats);
    return run(*options);
  });
}

}  // namespace conclave::cli
