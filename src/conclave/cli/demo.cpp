// `conclave demo`: one election with every protocol of the catalog, in two tables.
// Sizes are those that each protocol names for it (demo_n); times are of the processor.
#include <atomic>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/text_table.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/cli/cli.hpp"
#include "conclave/cli/progress_line.hpp"
#include "conclave/cli/terminal.hpp"
#include "conclave/experiment/runner.hpp"

namespace conclave::cli {
namespace {

using TableEntries = std::vector<std::string>;
using enum TextTable::Align;

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
  experiment::worker_count(*run, 1, 1);  // objects if too large
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

TextTable population_table() {
  return TextTable({{"PROTOCOL", left},
                    {"AGENTS"},
                    {"GRAPH", left, true},
                    {"PARALLEL TIME", right, true},
                    {"INTERACTIONS"},
                    {"BOUND OF THE PAPER", left, true},
                    {"CPU S"}});
}

TableEntries population_entries(const catalog::Entry& entry, const Election& election) {
  const double interactions = election.result.interactions.as_double();
  return {std::string(entry.info.name),
          fmt::format("{}", election.n),
          std::string(entry.info.network),
          four_digits(interactions / static_cast<double>(election.n)),
          four_digits(interactions),
          entry.info.bound.empty() ? "-" : std::string(entry.info.bound),
          fmt::format("{:.2f}", election.seconds)};
}

TextTable network_table() {
  return TextTable({{"PROTOCOL", left},
                    {"NODES"},
                    {"MODEL", left},
                    {"TIME"},
                    {"MESSAGES"},
                    {"PER NODE"},
                    {"BOUND OF THE PAPER", left, true},
                    {"CPU S"}});
}

// At most six characters up to 999999, also of times that are not whole.
std::string units(double time) {
  return time < 100'000 ? fmt::format("{:.5g}", time) : fmt::format("{:.6g}", time);
}

TableEntries network_entries(const catalog::Entry& entry, const Election& election) {
  const NetworkOutcome& network = *election.result.network;
  const double messages = election.result.interactions.as_double();
  return {
      std::string(entry.info.name),
      fmt::format("{}", election.n),
      network.rounds ? "synchronous" : "asynchronous",
      network.rounds ? fmt::format("{} rounds", *network.rounds) : units(network.time) + " units",
      four_digits(messages),
      four_digits(messages / static_cast<double>(election.n)),
      std::string(entry.info.bound),
      fmt::format("{:.2f}", election.seconds)};
}

// The entries of the table of populations or of networks; parts of protocols, which elect no leader
// by themselves, are left out.
std::vector<const catalog::Entry*> entries_of(bool in_networks) {
  std::vector<const catalog::Entry*> result;
  for (const catalog::Entry& entry : catalog::entries()) {
    if (entry.info.part_of.empty() && entry.network.has_value() == in_networks) {
      result.push_back(&entry);
    }
  }
  return result;
}

// Numbers as wide as they come, so that the columns are known before the first election.
TableEntries widest_entries(const catalog::Entry& entry, bool in_networks) {
  Election election{.n = entry.info.demo_n, .result = {}, .seconds = 10};
  election.result.interactions =
      Interactions(in_networks ? std::uint64_t{12'340'000'000} : std::uint64_t{1'234'000'000'000});
  if (!in_networks) return population_entries(entry, election);
  election.result.network = NetworkOutcome{.time = 123456};
  return network_entries(entry, election);
}

// The protocols of one kind; each line appears when its leader is elected.
Exit elect_all(bool in_networks, std::uint64_t seed) {
  const std::atomic<bool>& stop = interrupted_flag();
  TextTable table = in_networks ? network_table() : population_table();
  const std::vector<const catalog::Entry*> entries = entries_of(in_networks);
  for (const catalog::Entry* entry : entries) table.add(widest_entries(*entry, in_networks));
  const TextTable::Widths widths = table.widths_within(output_width());
  fmt::print("{}", table.titles(widths));
  for (const catalog::Entry* entry : entries) {
    std::fflush(stdout);
    const Election election = elect(*entry, seed, stop);
    if (stop) return Exit::interrupted;
    if (election.result.ending != Ending::converged) {
      tell("conclave: {} did not elect a leader\n", entry->info.name);
      return Exit::not_converged;
    }
    fmt::print(
        "{}",
        table.row((in_networks ? network_entries : population_entries)(*entry, election), widths));
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
  if (const Exit status = elect_all(false, seed); status != Exit::done) return status;
  fmt::print("\nNetworks: time runs from the first wake-up to the last message sent;\n"
             "a message takes one unit or round.\n");
  if (const Exit status = elect_all(true, seed); status != Exit::done) return status;
  fmt::print("{}", next_steps);
  return Exit::done;
}

}  // namespace

void add_demo(Command& conclave) {
  auto seed = std::make_shared<std::string>("1");
  Command command =
      conclave.subcommand("demo", "Elect a leader with every protocol, each beside its bound");
  command.option("--seed", "S", *seed, "Seed; the same seed gives the same results (default 1)");
  command.footer(R"(
Examples:
  conclave demo
  conclave demo --seed 7)");
  command.runs([seed] { return demo(count_option_64("--seed", *seed, 0, UINT64_MAX)); });
}

}  // namespace conclave::cli
