// `conclave bench`: the benchmarks of bench/, on the user's machine.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/cli/cli.hpp"
#include "conclave/cli/terminal.hpp"
#include "conclave/experiment/memory.hpp"

#include "bench/agents_bench.hpp"
#include "bench/counts_bench.hpp"
#include "bench/pairing_bench.hpp"

namespace conclave::cli {
namespace {

struct Options {
  std::string subject;
  std::vector<std::string> sizes;
  std::vector<std::string> workloads;
  std::string repeats;
};

// The engine's largest index, and what the machine can hold in 4 bytes per agent.
std::uint64_t benchmark_size(const std::string& text) {
  const std::uint64_t n = count_option_64("--n", text, 1000, 0xffffffffu);
  if (n * 4 > experiment::available_memory()) {
    throw Error(fmt::format("n = {} needs {} bytes, more than this machine has free", n, n * 4));
  }
  return n;
}

void print(const std::string& line) {
  fmt::print("{}", line);
  std::fflush(stdout);
}

unsigned repeats_of(const Options& options, unsigned usually) {
  if (options.repeats.empty()) return usually;
  return static_cast<unsigned>(count_option_64("--repeats", options.repeats, 1, 1000));
}

void bench_agents(const Options& options) {
  bench::AgentsOptions agents;
  if (!options.workloads.empty()) throw Error("--workload is an option of `conclave bench counts`");
  if (!options.sizes.empty()) agents.sizes.clear();
  for (const std::string& size : options.sizes) agents.sizes.push_back(benchmark_size(size));
  agents.repeats = repeats_of(options, agents.repeats);
  bench::run_agents(agents, print);
}

void bench_counts(const Options& options) {
  bench::CountsOptions counts;
  const std::vector<std::string_view> known = bench::counts_workloads();
  for (const std::string& workload : options.workloads) {
    if (std::ranges::find(known, workload) == known.end()) {
      throw Error(unknown_name("workload", workload, known));
    }
  }
  counts.workloads = options.workloads;
  for (const std::string& size : options.sizes) {
    counts.sizes.push_back(count_option_64("--n", size, 1000, std::uint64_t{1} << 62));
  }
  counts.repeats = repeats_of(options, counts.repeats);
  bench::run_counts(counts, print);
}

Exit bench(const Options& options) {
  constexpr std::array<std::string_view, 3> subjects{"agents", "counts", "pairing"};
  if (options.subject == subjects[0]) {
    bench_agents(options);
  } else if (options.subject == subjects[1]) {
    bench_counts(options);
  } else if (options.subject == subjects[2]) {
    bench::run_pairing(print);
  } else {
    throw Error(unknown_name("benchmark", options.subject, subjects));
  }
  return Exit::done;
}

}  // namespace

void add_bench(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("bench", "Check our speed claims on this machine");
  command
      ->add_option("SUBJECT", options->subject,
                   "agents: the agents engine and the raw machine; counts: the counts engine and "
                   "published simulators; pairing: what drawing by classes saves")
      ->required();
  command
      ->add_option("--n", options->sizes,
                   "Population sizes (default: agents 1e4,1e6,1e8; counts 1e4 to 1e10)")
      ->type_name("N,...")
      ->delimiter(',');
  command->add_option("--workload", options->workloads, "counts: only these (default: all)")
      ->type_name("NAME,...")
      ->delimiter(',');
  command
      ->add_option("--repeats", options->repeats,
                   "Measurements per size (default: agents 5, counts 3)")
      ->type_name("R");
  command->footer(
      "\nExamples:\n  conclave bench agents\n  conclave bench agents --n 1e9 --repeats 1\n"
      "  conclave bench counts\n  conclave bench counts --workload majority,pll --n 1e12");
  command->callback([options, &action] { action = [options] { return bench(*options); }; });
}

}  // namespace conclave::cli
