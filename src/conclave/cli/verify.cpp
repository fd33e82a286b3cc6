// `conclave verify`: the lemmas of a paper and exact expected times, over all configurations of a
// small population.
#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/output.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/catalog/require.hpp"
#include "conclave/cli/cli.hpp"
#include "conclave/cli/progress.hpp"
#include "conclave/cli/terminal.hpp"
#include "conclave/cli/verify_output.hpp"
#include "conclave/experiment/law_test.hpp"
#include "conclave/experiment/memory.hpp"
#include "conclave/experiment/run_text.hpp"

namespace conclave::cli {
namespace {

struct VerifyCommandOptions {
  experiment::RunText run;
  exact::VerifyOptions verify;
  std::string from;
  std::string memory;
  std::string distribution;
  std::string against;
  std::string trials = "10000";
  std::string format = "table";
  std::string output;
  bool no_congruence = false;
  bool quiet = false;
};

constexpr std::array<std::string_view, 2> extents{"all", "start"};

// Trials are compared with the law up to a time after which fewer than this many of them are
// expected to converge; and no further than a few minutes allow for all trials together.
constexpr double trials_left = 5;
constexpr std::uint64_t most_law_steps = 1'000'000;
constexpr std::uint64_t fewest_law_steps = 1'000;
constexpr std::uint64_t most_interactions = 10'000'000'000;

exact::Extent extent(const VerifyCommandOptions& options) {
  if (options.from.empty()) return exact::Extent::as_claimed;
  if (options.from == "all") return exact::Extent::everywhere;
  if (options.from == "start") return exact::Extent::start;
  throw Error(unknown_name("value of --from", options.from, extents));
}

std::uint64_t memory(const VerifyCommandOptions& options) {
  if (options.memory.empty()) return experiment::available_memory();
  return count_option_64("--memory", options.memory, 1, UINT64_MAX);
}

std::uint64_t trials(const VerifyCommandOptions& options) {
  return count_option_64("--trials", options.trials, 1, UINT64_MAX);
}

void set_comparison(const VerifyCommandOptions& options, exact::VerifyOptions& verify) {
  if (options.against.empty()) return;
  if (!verify.target.empty()) throw Error("--against is about convergence, not about --target");
  verify.comparison_steps =
      std::clamp(most_interactions / trials(options), fewest_law_steps, most_law_steps);
  verify.comparison_tail = trials_left / static_cast<double>(trials(options));
}

catalog::VerifyRequest request(const VerifyCommandOptions& options) {
  catalog::VerifyRequest asked{
      .run = experiment::request_of(options.run, {.command = "verify", .n = "3"}),
      .options = options.verify};
  asked.options.extent = extent(options);
  asked.options.congruence = !options.no_congruence;
  asked.options.bounds.memory = memory(options);
  if (!options.distribution.empty()) {
    asked.options.distribution_steps =
        count_option_64("--distribution", options.distribution, 1, most_law_steps);
  }
  set_comparison(options, asked.options);
  return asked;
}

std::vector<std::string> engine_names(const std::string& list) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t comma = std::min(list.find(',', begin), list.size());
    names.push_back(list.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return names;
}

// The engines to be compared. Their trials end at the limit at the latest.
std::vector<std::unique_ptr<const catalog::PreparedRun>> prepare_engines(
    const VerifyCommandOptions& options, const catalog::Entry& entry,
    const catalog::RunRequest& run, std::uint64_t limit) {
  std::vector<std::unique_ptr<const catalog::PreparedRun>> engines;
  for (const std::string& name : engine_names(options.against)) {
    catalog::RunRequest with_engine = run;
    with_engine.engine = name;
    with_engine.plan.limit = limit;
    engines.push_back(entry.prepare(with_engine));
  }
  return engines;
}

// Later or non-converging trials are pooled into one bucket, so no trial need go further than the
// law.
void compare(const VerifyCommandOptions& options, const catalog::Entry& entry,
             const catalog::RunRequest& run, VerifyOutput& output, const std::atomic<bool>& stop) {
  const std::vector<double>& law = output.verified.report.comparison_law;
  for (const auto& engine : prepare_engines(options, entry, run, law.size())) {
    experiment::Progress progress;
    output.engines.push_back(experiment::test_law(
        *engine, law,
        {.trials = trials(options), .threads = std::max(1u, std::thread::hardware_concurrency())},
        progress, stop));
  }
}

bool agrees(const VerifyOutput& output) {
  if (!output.verified.report.all_hold()) return false;
  return std::ranges::none_of(output.engines, &experiment::LawTest::is_rejected);
}

catalog::Entry entry_of(const std::string& protocol) {
  catalog::Entry entry = catalog::find(protocol);
  if (entry.explore) {
    throw Error(
        fmt::format("{} passes messages; to try all its schedules: conclave explore {} --n 4",
                    protocol, protocol));
  }
  catalog::require(entry, &catalog::Entry::verify, "cannot be verified exactly");
  return entry;
}

Exit verify(const VerifyCommandOptions& options) {
  const catalog::Entry entry = entry_of(options.run.protocol);
  catalog::VerifyRequest asked = request(options);
  prepare_engines(options, entry, asked.run, most_law_steps);  // mistakes are told at once
  VerifyOutput output{.protocol = options.run.protocol,
                      .n = catalog::checked_population(asked.run.n),
                      .graph = options.run.graph,
                      .target = options.verify.target,
                      .within = options.verify.within};
  exit_when_interrupted();  // nothing is worth keeping before the end
  const std::atomic<bool> never_stops = false;
  {
    PhaseLine line(options.quiet, never_stops);
    asked.options.bounds.progress = std::ref(line);
    output.verified = entry.verify(asked);
  }
  if (!options.against.empty()) compare(options, entry, asked.run, output, never_stops);
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
  command.flag("--exact", options.verify.exactly,
               "Also print the expected time from the start as a fraction");
  command.option(
      "--target", "SET", options.verify.target,
      "The set whose hitting time is computed, such as C_NI of prl (default: converged)");
  command.option("--within", "SET", options.verify.within,
                 "Where the largest expectation is sought (default: everywhere)");
  command.option("--distribution,--steps", "STEPS", options.distribution,
                 "Also print P(T <= t) from the start for t = 0 ... STEPS");
  command.option("--against", "NAMES", options.against,
                 "Compare trials of these engines with the exact law of T: agents,counts,events; "
                 "later or non-converging trials are pooled into one bucket");
  command.option("--trials", "T", options.trials, "Trials of each engine (default 10000)");
  command.option("--seed", "S", options.run.seed,
                 "The seed of trials and of random graphs (default 1)");
}

void add_space(Command& command, VerifyCommandOptions& options) {
  command.option("--init", "NAME", options.run.init, "Initial configuration (see `describe`)");
  command.option("--graph", "GRAPH", options.run.graph,
                 "complete, ring, undirected-ring, grid:RxC, ..., for protocols that allow it");
  command.option("--from", "all|start", options.from,
                 "all: every configuration; start: those reachable from the start (default: those "
                 "that the paper's claims are about)");
  command.flag("--no-congruence", options.no_congruence,
               "Do not merge states that the protocol declares to behave alike");
  command.option("--memory", "BYTES", options.memory,
                 "Memory that may be used, such as 4e9 (default: what is available)");
}

}  // namespace

void add_verify(Command& conclave) {
  auto options = std::make_shared<VerifyCommandOptions>();
  Command command = conclave.subcommand(
      "verify", "Check the paper's lemmas and compute exact times on a small population");
  command.word("PROTOCOL", options->run.protocol,
               "A name from `conclave list`, or a file: my.pp, my.crn");
  command.option("--n", "N", options->run.n,
                 "Population size; small, since all configurations are explored");
  command.param_option(options->run.params);
  add_space(command, *options);
  add_numbers(command, *options);
  command.option("--format", "F", options->format, "table or json (default table)");
  command.option("-o,--output", "FILE", options->output,
                 "Write to FILE instead of standard output; it appears when complete");
  command.option("--export", "DIR", options->verify.folder,
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
