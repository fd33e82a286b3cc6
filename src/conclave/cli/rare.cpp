// `conclave rare`: expected times of failures that are too rare to be seen by waiting.
//
// Several importance functions estimate the same failure independently; only where two agree is the
// result called confirmed. Pilots choose levels first, then threads run the repetitions; an
// interrupted run prints what those that are finished say.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/output.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/catalog/rare_request.hpp"
#include "conclave/catalog/text_entry.hpp"
#include "conclave/cli/cli.hpp"
#include "conclave/cli/progress_line.hpp"
#include "conclave/cli/terminal.hpp"
#include "conclave/experiment/run_options.hpp"
#include "conclave/rare/prepared.hpp"
#include "conclave/rare/result.hpp"

namespace conclave::cli {
namespace {

struct RareCommandOptions {
  experiment::RunText words;
  experiment::ExecutionText execution;
  std::string repetitions = "20";
};

unsigned threads(const RareCommandOptions& options) {
  return asked_threads(options.execution)
      .value_or(std::max(1u, std::thread::hardware_concurrency()));
}

LineParts progress_parts(const rare::Progress& progress, std::size_t functions,
                         std::uint64_t repetitions) {
  const std::uint64_t pilots = progress.pilots_done;
  const std::string place =
      pilots < functions ? fmt::format("pilot {} of {}", pilots + 1, functions)
                         : fmt::format("repetition {} of {}", progress.repetitions_done.load(),
                                       functions * repetitions);
  return {{place, 1}, {fmt::format("{:.3g} interactions", progress.interactions.load()), 0}};
}

std::string written(const RareCommandOptions& options, const rare::Row& row) {
  if (options.execution.format == "table") return row.table();
  return rare::rows_text(std::array{&row}, options.execution.format);
}

Exit rare(const RareCommandOptions& options) {
  const catalog::Entry entry = catalog::find(options.words.protocol);
  catalog::require_rare(entry);
  const catalog::RareRequest asked = experiment::rare_request_of(entry, options.words);
  const rare::RunOptions effort{count_option_64("--repetitions", options.repetitions, 2, 1'000'000),
                                threads(options)};
  const auto prepared = entry.rare(asked);
  std::size_t functions = prepared->subject().functions.size();
  check_output_is_not_read(options.execution.output, catalog::files_of(options.words.protocol));
  check_can_be_written(options.execution.output);
  const std::atomic<bool>& stop = interrupted_flag();
  rare::Progress progress;
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::vector<RareRepetition>> found;
  {
    const RepaintedLine line(options.execution.quiet, [&] {
      return progress_parts(progress, functions, effort.repetitions);
    });
    found = rare::run_rare(*prepared, effort, progress, stop);
  }
  functions = found.size();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  if (!options.execution.quiet) {
    tell("{} repetitions, {:.3g} interactions in {} on {} threads\n",
         progress.repetitions_done.load(), progress.interactions.load(),
         duration_text(elapsed.count()), effort.threads);
  }
  const bool is_interrupted = progress.repetitions_done < functions * effort.repetitions;
  if (std::ranges::any_of(found, [](const auto& each) { return each.size() < 2; })) {
    if (!options.execution.quiet)
      tell("interrupted before two repetitions of each function were done\n");
    return Exit::interrupted;
  }
  const rare::Row row(prepared->subject(), found, is_interrupted);
  Output output(options.execution.output);
  output.write(written(options, row));
  output.finish();
  return is_interrupted ? Exit::interrupted : Exit::done;
}

constexpr const char* rare_examples = R"(
Examples:
  conclave rare ppl --n 8 --param t_max=12 --param t_virus=6 --param t_emit=40
  conclave rare ppl --n 64 --way suicide --importance spine
  conclave rare electleader --n 1000 --param r=8 --max-parallel-time 4000
  conclave rare timers --n 6 --param t_max=10 --importance exact --importance group
  conclave rare my.pp --n 30 --importance 'count(S)' --importance 'count(S) - count(I)'

An importance function is a name (`conclave describe PROTOCOL` lists them) or an expression: a
number that grows on the way to the failure, made of count(CONDITION), sum(E), mean(E), min(E) and
max(E) over all agents. Protocols that may fail at any time get an expected time; where the failure
is to miss a limit, as a detection of electleader can, its probability is estimated. A value is
confirmed only if two functions agree. `--importance exact` solves small populations instead, with
states merged as far as the failure allows. A way that gives no estimate gets a lower bound; one
that cannot happen is said to be impossible. Exit status: 0 done, 1 failed, 2 misused, 130
interrupted (finished repetitions are kept).)";

}  // namespace

void add_rare(Command& conclave) {
  auto options = std::make_shared<RareCommandOptions>();
  Command command =
      conclave.subcommand("rare", "Estimate expected times of rare failures by splitting");
  command.word("PROTOCOL", options->words.protocol,
               "A protocol that names importance functions, or a file: my.pp");
  command.run_options(
      experiment::by_rare, options->words,
      {{"init",
        "Initial configuration (default: the protocol's safe one, the first of a protocol file)"},
       {"max_parallel_time", "The limit of an attempt, for protocols whose failure is to miss it"},
       {"max_interactions", "The same in interactions"}});
  command.option("--repetitions", "R", options->repetitions,
                 "Independent repetitions, the only source of the interval (default 20)");
  command.run_options(experiment::by_rare, options->execution);
  command.file_size_option();
  command.footer(rare_examples);
  command.runs([options] {
    options->execution.format = format_option(options->execution.format, row_formats);
    return rare(*options);
  });
}

}  // namespace conclave::cli
