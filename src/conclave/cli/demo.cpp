// `conclave demo`: one election with every protocol of the catalog, in two tables.
#include <atomic>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "conclave/catalog/catalog.hpp"
#include "conclave/cli/cli.hpp"
#include "conclave/cli/progress.hpp"
#include "conclave/cli/terminal.hpp"
#include "conclave/experiment/memory.hpp"
#include "conclave/experiment/runner.hpp"

namespace conclave::cli {
namespace {

// The line of a table under its heading; all columns are texts.
constexpr const char* population_layout = "{:<16} {:>9}  {:<22} {:>13} {:>13}  {:<30} {:>6}\n";
constexpr const char* network_layout = "{:<16} {:>9}  {:<12} {:>13} {:>10} {:>11}  {:<30} {:>6}\n";

struct Election {
  AgentCount n = 0;
  TrialResult result;
  double seconds = 0;
};

// One election. Its seconds are processor time, which other work on the machine hardly changes.
Election elect(const catalog::Entry& entry, std::uint64_t seed, const std::atomic<bool>& stop) {
  const auto run = entry.prepare({.n = entry.info.demo_n,
                                  .settings = {},
                                  .start = {},
                                  .engine = {},
                                  .seed = seed,
                                  .plan = {}});
  experiment::worker_count(*run, 1, 1, experiment::available_memory());  // objects if too large
  Election election{.n = run->n(), .result = {}, .seconds = 0};
  experiment::Progress progress;
  const std::clock_t begin = std::clock();
  {
    const ProgressLine line(fmt::format("{} n = {}", entry.info.name, run->n()), 1, progress,
                            false);
    experiment::run_trials(
        *run, {.trials = 1, .threads = 1},
        [&](const experiment::Row& row) { election.result = row.result; }, progress, stop);
  }
  election.seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  return election;
}

void print_population(const catalog::Entry& entry, const Election& election) {
  const double interactions = election.result.interactions.as_double();
  fmt::print(population_layout, entry.info.name, election.n, entry.info.network,
             fmt::format("{:.4g}", interactions / static_cast<double>(election.n)),
             fmt::format("{:.4g}", interactions), entry.info.bound.empty() ? "-" : entry.info.bound,
             fmt::format("{:.2f}", election.seconds));
}

void print_network(const catalog::Entry& entry, const Election& election) {
  const NetworkOutcome& network = *election.result.network;
  const double messages = election.result.interactions.as_double();
  const std::string time = network.rounds ? fmt::format("{} rounds", *network.rounds)
                                          : fmt::format("{:.6g} units", network.time);
  fmt::print(network_layout, entry.info.name, election.n,
             network.rounds ? "synchronous" : "asynchronous", time, fmt::format("{:.4g}", messages),
             fmt::format("{:.1f}", messages / static_cast<double>(election.n)), entry.info.bound,
             fmt::format("{:.2f}", election.seconds));
}

// The protocols of one kind; each line appears when its leader is elected.
Exit elect_all(bool in_networks, std::uint64_t seed) {
  const std::atomic<bool>& stop = interrupted_flag();
  for (const catalog::Entry& entry : catalog::entries()) {
    const bool is_part = !entry.info.part_of.empty();  // elects no leader by itself
    if (is_part || entry.network.has_value() != in_networks) continue;
    std::fflush(stdout);
    const Election election = elect(entry, seed, stop);
    if (stop) return Exit::interrupted;
    if (election.result.ending != Ending::converged) {
      tell("conclave: {} did not elect a leader\n", entry.info.name);
      return Exit::not_converged;
    }
    (in_networks ? print_network : print_population)(entry, election);
  }
  return Exit::done;
}

constexpr const char* next_steps = R"(
Next:
  conclave describe pll                  paper, variables, parameters, errata of one of them
  conclave run pll --n 1e6 --trials 20   statistics of 20 elections
  conclave verify prl --n 3              a paper's lemmas, checked in every configuration
  conclave --help                        everything else
)";

Exit demo(std::uint64_t seed) {
  fmt::print("Every protocol of the catalog elects a leader (seed {}).\n\n", seed);
  fmt::print("Populations: two random agents interact; n interactions are one unit of time.\n");
  fmt::print(population_layout, "PROTOCOL", "AGENTS", "GRAPH", "PARALLEL TIME", "INTERACTIONS",
             "BOUND OF THE PAPER", "CPU S");
  if (const Exit status = elect_all(false, seed); status != Exit::done) return status;
  fmt::print("\nNetworks: time runs from the first wake-up to the last message sent; a message "
             "takes one unit or round.\n");
  fmt::print(network_layout, "PROTOCOL", "NODES", "MODEL", "TIME", "MESSAGES", "PER NODE",
             "BOUND OF THE PAPER", "CPU S");
  if (const Exit status = elect_all(true, seed); status != Exit::done) return status;
  fmt::print("{}", next_steps);
  return Exit::done;
}

}  // namespace

void add_demo(Command& conclave) {
  auto seed = std::make_shared<std::string>("1");
  Command command =
      conclave.subcommand("demo", "Elect a leader with every protocol, each beside its bound");
  command.option("--seed", "S", *seed, "Seed; with it everything repeats (default 1)");
  command.footer(R"(
Examples:
  conclave demo
  conclave demo --seed 7)");
  command.runs([seed] { return demo(count_option_64("--seed", *seed, 0, UINT64_MAX)); });
}

}  // namespace conclave::cli
