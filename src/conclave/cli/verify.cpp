// `conclave verify`: the lemmas of a paper and exact expected times, over all configurations of a
// small population.
#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "conclave/base/output.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/catalog/text_entry.hpp"
#include "conclave/cli/cli.hpp"
#include "conclave/cli/progress.hpp"
#include "conclave/cli/terminal.hpp"
#include "conclave/cli/verify_output.hpp"
#include "conclave/experiment/exact_text.hpp"

namespace conclave::cli {
namespace {

struct VerifyCommandOptions {
  experiment::RunText run;
  experiment::VerifyText verify;
  std::string format = "table";
  std::string output;
  bool quiet = false;
};

bool agrees(const VerifyOutput& output) {
  if (!output.verified.report.all_hold()) return false;
  return std::ranges::none_of(output.engines, &experiment::LawTest::is_rejected);
}

Exit verify(const VerifyCommandOptions& options) {
  const catalog::Entry entry = catalog::find(options.run.protocol);
  experiment::check_verifiable(entry, options.run.protocol);
  catalog::VerifyRequest asked = experiment::verify_request(
      entry, options.verify, experiment::request_of(entry, options.run, experiment::verify_usage));
  VerifyOutput output{.protocol = options.run.protocol,
                      .n = catalog::checked_population(asked.run.n),
                      .graph = options.run.graph,
                      .target = options.verify.plain.target,
                      .within = options.verify.plain.within};
  check_output_is_not_read(options.output, catalog::files_of(options.run.protocol));
  check_can_be_written(options.output);
  exit_when_interrupted();  // nothing is worth keeping before the end
  const std::atomic<bool> never_stops = false;
  {
    PhaseLine line(options.quiet, never_stops);
    asked.options.bounds.progress = std::ref(line);
    output.verified = entry.verify(asked);
  }
  output.engines = experiment::compared_engines(entry, options.verify, asked.run,
                                                output.verified.report.comparison_law, never_stops);
  interrupted_flag();  // what is written now is finished
  Output file(options.output);
  file.write(options.format == "json" ? output.json() : output.text(output_width(options.output)));
  file.finish();
  return agrees(output) ? Exit::done : Exit::does_not_hold;
}

constexpr const char* verify_examples = R"(
Examples:
  conclave verify prl --n 3 --param N=4
  conclave verify pll --n 5 --param c_max=2 --param k=1
  conclave verify pll --n 4 --param c_max=3 --param k=1 --param reading=printed   (fails)
  conclave verify ppl --n 3 --param t_max=4 --param t_virus=2 --param t_emit=3 --format json
  conclave verify coalescence --n 9 --graph undirected-ring
  conclave verify detect-collision --n 3 --param r=3 --param c_M=0.3 --param signatures=2
  conclave verify fratricide --n 20 --against agents,counts,events --trials 1e5
  conclave verify protocols/epidemic.pp --n 6 --exact

A claim is reported as vacuous where its premise never occurs among the configurations explored.

Exit status: 0 nothing fails, 1 failed, 2 misused, 4 a property does not hold or an engine differs
from the exact law, 130 interrupted.)";

void add_numbers(Command& command, VerifyCommandOptions& options) {
  command.flag("--exact", options.verify.plain.exactly,
               "Also print the expected time from the start as a fraction");
  command.option(
      "--target", "SET", options.verify.plain.target,
      "The set whose hitting time is computed, such as C_NI of prl (default: converged)");
  command.option("--within", "SET", options.verify.plain.within,
                 "Where the largest expectation is sought (default: everywhere)");
  command.option("--distribution,--steps", "STEPS", options.verify.distribution,
                 "Also print P(T <= t) from the start for t = 0 ... STEPS");
  command.option("--against", "NAMES", options.verify.against,
                 "Compare trials of these engines with the exact law of T: agents,counts,events; "
                 "later or non-converging trials are pooled into one bucket");
  command.option("--trials", "T", options.verify.trials, "Trials of each engine (default 10000)");
}

void add_space(Command& command, VerifyCommandOptions& options) {
  command.option("--from", "all|start", options.verify.from,
                 "all: every configuration; start: those reachable from the start (default: those "
                 "that the paper's claims are about)");
  command.flag("--no-congruence", options.verify.no_congruence,
               "Do not merge states that the protocol declares to behave alike");
  command.option(
      "--memory", "SIZE", options.verify.memory,
      "Memory that may be used, such as 8GiB or 8e9 (default: what is available, but 4 GiB where "
      "only the reachable configurations are explored)");
}

}  // namespace

void add_verify(Command& conclave) {
  auto options = std::make_shared<VerifyCommandOptions>();
  Command command = conclave.subcommand(
      "verify", "Check the paper's lemmas and compute exact times on a small population");
  command.word("PROTOCOL", options->run.protocol,
               "A name from `conclave list`, or a file: my.pp, my.crn");
  command.run_options(experiment::by_verify, options->run,
                      {{"n", "Population size; small, since all configurations are explored"},
                       {"seed", "The seed of trials and of random graphs (default 1)"}});
  add_space(command, *options);
  add_numbers(command, *options);
  command.option("--format", "F", options->format, "table or json (default table)");
  command.option("-o,--output", "FILE", options->output,
                 "Write to FILE instead of standard output; it appears when complete");
  command.option("--export", "DIR", options->verify.plain.folder,
                 "Write the chain to this folder: explicit files for PRISM and Storm, Graphviz");
  command.flag("--quiet", options->quiet, "No progress line");
  command.file_size_option();
  command.footer(verify_examples);
  command.runs([options] {
    options->format = format_option(options->format, table_or_json);
    return verify(*options);
  });
}

}  // namespace conclave::cli
