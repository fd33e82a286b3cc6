// `conclave demo`: one election with every protocol of the catalog, in one table.
#include <atomic>
#include <chrono>
#include <cstdio>
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

constexpr const char* layout = "{:<17} {:<34} {:>12}  {:<46} {:<30} {:>8}\n";

std::string model_text(const catalog::Entry& entry) {
  return fmt::format("{}, {}", entry.network ? "messages" : "population", entry.info.network);
}

std::string time_text(const TrialResult& result, AgentCount n) {
  const std::string steps = to_string(result.interactions);
  if (!result.network) {
    const double time = result.interactions.as_double() / static_cast<double>(n);
    return fmt::format("{:.6g} ({} interactions)", time, steps);
  }
  if (result.network->rounds) {
    return fmt::format("{} rounds ({} messages)", *result.network->rounds, steps);
  }
  return fmt::format("{:.6g} units of time ({} messages)", result.network->time, steps);
}

// One election, timed. Returns nothing but the line of the table.
std::string elect(const catalog::Entry& entry, std::uint64_t seed, const std::atomic<bool>& stop) {
  const auto run = entry.prepare({.n = entry.info.demo_n,
                                  .settings = {},
                                  .start = {},
                                  .engine = {},
                                  .seed = seed,
                                  .plan = {}});
  experiment::worker_count(*run, 1, 1, experiment::available_memory());  // objects if too large
  experiment::Progress progress;
  TrialResult result;
  const auto begin = std::chrono::steady_clock::now();
  {
    const ProgressLine line(fmt::format("{} n = {}", entry.info.name, run->n()), 1, progress,
                            false);
    experiment::run_trials(
        *run, {.trials = 1, .threads = 1}, [&](const experiment::Row& row) { result = row.result; },
        progress, stop);
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  if (result.ending != Ending::converged) return {};
  return fmt::format(layout, entry.info.name, model_text(entry), run->n(),
                     time_text(result, run->n()), entry.info.bound,
                     fmt::format("{:.2f}", elapsed.count()));
}

Exit demo(std::uint64_t seed) {
  const std::atomic<bool>& stop = interrupted_flag();
  fmt::print("Every protocol of the catalog elects a leader (seed {}).\n\n", seed);
  fmt::print(layout, "PROTOCOL", "MODEL", "N", "TIME TO ELECT (PARALLEL TIME)",
             "BOUND OF THE PAPER", "SECONDS");
  for (const catalog::Entry& entry : catalog::entries()) {
    if (!entry.info.part_of.empty()) continue;  // elects no leader by itself
    std::fflush(stdout);
    const std::string line = elect(entry, seed, stop);
    if (stop) return Exit::interrupted;
    if (line.empty()) {
      fmt::print(stderr, "conclave: {} did not elect a leader\n", entry.info.name);
      return Exit::not_converged;
    }
    fmt::print("{}", line);
  }
  fmt::print(
      "\nNext: conclave run pll --n 1e6 --trials 20, conclave describe pll, conclave --help\n");
  return Exit::done;
}

}  // namespace

void add_demo(Command& conclave) {
  auto seed = std::make_shared<std::string>("1");
  Command command =
      conclave.subcommand("demo", "Elect a leader with every protocol, each beside its bound");
  command.option("--seed", "S", *seed, "Seed (default 1)");
  command.runs([seed] { return demo(count_option_64("--seed", *seed, 0, UINT64_MAX)); });
}

}  // namespace conclave::cli
