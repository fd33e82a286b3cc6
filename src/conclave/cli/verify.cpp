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
#include "conclave/catalog/catalog.hpp"
#include "conclave/catalog/require.hpp"
#include "conclave/cli/cli.hpp"
#include "conclave/cli/progress.hpp"
#include "conclave/cli/terminal.hpp"
#include "conclave/cli/verify_output.hpp"
#include "conclave/experiment/law_test.hpp"
#include "conclave/experiment/memory.hpp"
#include "conclave/experiment/output.hpp"
#include "conclave/experiment/run_text.hpp"

namespace conclave::cli {
namespace {

struct Options {
  std::string protocol;
  std::string n;
  std::vector<std::string> params;
  std::string init;
  std::string graph;
  std::string from;
  std::string target;
  std::string within;
  std::string format = "text";
  std::string output;
  std::string distribution;
  std::string against;
  std::string trials = "10000";
  std::string seed = "1";
  std::string memory;
  std::string folder;
  bool exact = false;
  bool no_congruence = false;
  bool quiet = false;
};

constexpr std::array<std::string_view, 3> formats{"text", "table", "json"};
constexpr std::array<std::string_view, 2> extents{"all", "start"};

// The law is followed so far that less than this many trials are expected to converge later; not
// much further than all trials together can be followed in a few minutes.
constexpr double trials_left = 5;
constexpr std::uint64_t most_law_steps = 1'000'000;
constexpr std::uint64_t fewest_law_steps = 1'000;
constexpr std::uint64_t most_interactions = 10'000'000'000;

catalog::Extent extent(const Options& options) {
  if (options.from.empty()) return catalog::Extent::as_claimed;
  if (options.from == "all") return catalog::Extent::everywhere;
  if (options.from == "start") return catalog::Extent::start;
  throw Error(unknown_name("value of --from", options.from, extents));
}

std::uint64_t memory(const Options& options) {
  if (options.memory.empty()) return experiment::available_memory();
  return count_option_64("--memory", options.memory, 1, UINT64_MAX);
}

catalog::VerifyRequest request(const Options& options) {
  const experiment::RunText words{.protocol = options.protocol,
                                  .n = options.n,
                                  .seed = options.seed,
                                  .params = options.params,
                                  .init = options.init,
                                  .graph = options.graph};
  return {.run = experiment::request_of(words, {.command = "verify", .n = "3"}),
          .extent = extent(options),
          .congruence = !options.no_congruence,
          .target = options.target,
          .within = options.within,
          .exactly = options.exact,
          .folder = options.folder,
          .memory = memory(options)};
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

// The engines to be compared, whose trials end at the limit at the latest.
std::vector<std::unique_ptr<const catalog::PreparedRun>> prepare_engines(
    const Options& options, const catalog::Entry& entry, const catalog::RunRequest& run,
    std::uint64_t limit) {
  std::vector<std::unique_ptr<const catalog::PreparedRun>> engines;
  for (const std::string& name : engine_names(options.against)) {
    catalog::RunRequest with_engine = run;
    with_engine.engine = name;
    with_engine.plan.limit = limit;
    engines.push_back(entry.prepare(with_engine));
  }
  return engines;
}

// What is later than the law goes, or never, is one case; so no trial need go further than that.
void compare(const Options& options, const catalog::Entry& entry, const catalog::RunRequest& run,
             VerifyOutput& output, const std::atomic<bool>& stop) {
  const std::vector<double>& law = output.verified.report.law;
  const std::uint64_t trials = count_option_64("--trials", options.trials, 1, UINT64_MAX);
  for (const auto& engine : prepare_engines(options, entry, run, law.size())) {
    experiment::Progress progress;
    output.engines.push_back(experiment::test_law(
        *engine, law,
        {.trials = trials, .threads = std::max(1u, std::thread::hardware_concurrency())}, progress,
        stop));
  }
}

void set_law(const Options& options, catalog::VerifyRequest& asked) {
  if (!options.distribution.empty()) {
    asked.law_steps = count_option_64("--distribution", options.distribution, 1, most_law_steps);
  }
  if (options.against.empty()) return;
  if (!options.target.empty()) throw Error("--against is about convergence, not about --target");
  if (!options.distribution.empty()) return;  // compared as far as it is printed
  const std::uint64_t trials = count_option_64("--trials", options.trials, 1, UINT64_MAX);
  asked.law_steps = std::clamp(most_interactions / trials, fewest_law_steps, most_law_steps);
  asked.law_tail = trials_left / static_cast<double>(trials);
}

bool agrees(const VerifyOutput& output) {
  if (!output.verified.report.all_hold()) return false;
  return std::ranges::none_of(output.engines, &experiment::LawTest::is_rejected);
}

Exit verify(const Options& options) {
  if (std::ranges::find(formats, options.format) == formats.end()) {
    throw Error(unknown_name("format", options.format, formats));
  }
  const catalog::Entry entry = catalog::find(options.protocol);
  if (entry.explore) {
    throw Error(
        fmt::format("{} passes messages; to try all its schedules: conclave explore {} --n 4",
                    options.protocol, options.protocol));
  }
  catalog::require(entry, &catalog::Entry::verify, "cannot be verified exactly");
  catalog::VerifyRequest asked = request(options);
  set_law(options, asked);
  prepare_engines(options, entry, asked.run, most_law_steps);  // mistakes are told at once
  const std::atomic<bool>& stop = interrupted_flag();
  VerifyOutput output{.protocol = options.protocol,
                      .n = catalog::checked_population(asked.run.n),
                      .graph = options.graph,
                      .target = options.target,
                      .within = options.within,
                      .with_law = !options.distribution.empty()};
  try {
    PhaseLine line(options.quiet, stop);
    asked.progress = std::ref(line);
    output.verified = entry.verify(asked);
  } catch (const std::runtime_error&) {
    if (stop) return Exit::interrupted;
    throw;
  }
  if (!options.against.empty()) compare(options, entry, asked.run, output, stop);
  experiment::Output file(options.output);
  file.write(options.format == "json" ? output.json() : output.text());
  file.finish();
  if (stop) return Exit::interrupted;
  return agrees(output) ? Exit::done : Exit::does_not_hold;
}

constexpr const char* examples = R"(
Examples:
  conclave verify prl --n 3 --param N=4
  conclave verify pll --n 5 --param c_max=2 --param k=1
  conclave verify pll --n 4 --param c_max=3 --param k=1 --param reading=printed   (fails)
  conclave verify ppl --n 3 --param t_max=4 --param t_virus=2 --param t_emit=3 --format json
  conclave verify coalescence --n 9 --graph undirected-ring
  conclave verify detect-collision --n 3 --param r=3 --param c_M=0.3 --param signatures=2
  conclave verify fratricide --n 20 --against agents,counts,events --trials 1e5
  conclave verify protocols/epidemic.pp --n 6 --exact

Exit status: 0 everything holds, 1 failed, 2 misused, 4 a property does not hold or an engine
differs from the exact law, 130 interrupted.)";

void add_numbers(Command& command, Options& options) {
  command.flag("--exact", options.exact, "Also the expected time from the start as a fraction");
  command.option(
      "--target", "SET", options.target,
      "The set whose hitting time is computed, such as C_NI of prl (default: converged)");
  command.option("--within", "SET", options.within,
                 "Where the largest expectation is sought (default: everywhere)");
  command.option("--distribution", "STEPS", options.distribution,
                 "Also print P(T <= t) from the start for t = 0 ... STEPS");
  command.option("--against", "NAMES", options.against,
                 "Engines whose trials are held to the exact law of T: agents,counts,events; what "
                 "is later than it can be followed, or never, is one case");
  command.option("--trials", "T", options.trials, "Trials of each of them (default 10000)");
  command.option("--seed", "S", options.seed, "Their seed, and that of random graphs (default 1)");
}

void add_space(Command& command, Options& options) {
  command.option("--init", "NAME", options.init, "Initial configuration (see `describe`)");
  command.option("--graph", "GRAPH", options.graph,
                 "complete, ring, undirected-ring, grid:RxC, ..., for protocols that allow it");
  command.option("--from", "all|start", options.from,
                 "all: every configuration; start: those reachable from the start (default: what "
                 "the paper's claims are about)");
  command.flag("--no-congruence", options.no_congruence,
               "Do not merge states that the protocol declares to behave alike");
  command.option("--memory", "BYTES", options.memory,
                 "Bytes that may be used, such as 4e9 (default: what is available)");
}

}  // namespace

void add_verify(Command& conclave) {
  auto options = std::make_shared<Options>();
  Command command = conclave.subcommand(
      "verify", "Check the paper's lemmas and compute exact times on a small population");
  command.word("PROTOCOL", options->protocol, "A name from `conclave list`, or a file: my.pp");
  command.option("--n", "N", options->n, "Population size, a small one");
  command.param_option(options->params);
  add_space(command, *options);
  add_numbers(command, *options);
  command.option("--format", "F", options->format, "text or json (default text)");
  command.option("-o,--output", "FILE", options->output,
                 "Write to FILE instead of standard output; it appears when complete");
  command.option("--export", "DIR", options->folder,
                 "Write the chain to files of this folder: explicit files for PRISM, Graphviz");
  command.flag("--quiet", options->quiet, "No progress line");
  command.footer(examples);
  command.runs([options] { return verify(*options); });
}

}  // namespace conclave::cli
