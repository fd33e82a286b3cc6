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
#include "bench/electleader_bench.hpp"
#include "bench/exact_bench.hpp"
#include "bench/network_bench.hpp"
#include "bench/pairing_bench.hpp"
#include "bench/reactions_bench.hpp"
#include "bench/texts_bench.hpp"

namespace conclave::cli {
namespace {

struct BenchOptions {
  std::string subject;
  std::vector<std::string> sizes;
  std::vector<std::string> workloads;
  std::string repeats;
};

void print(const std::string& line) {
  fmt::print("{}", line);
  std::fflush(stdout);
}

// The sizes asked for, or what the benchmark itself has.
void set_sizes(const BenchOptions& options, std::uint64_t low, std::uint64_t high,
               std::vector<std::uint64_t>& sizes) {
  if (!options.sizes.empty()) sizes.clear();
  for (const std::string& size : options.sizes) {
    sizes.push_back(count_option_64("--n", size, low, high));
  }
}

void set_repeats(const BenchOptions& options, unsigned& repeats) {
  if (options.repeats.empty()) return;
  repeats = static_cast<unsigned>(count_option_64("--repeats", options.repeats, 1, 1000));
}

void bench_agents(const BenchOptions& options) {
  bench::AgentsOptions agents;
  set_sizes(options, 1000, 0xffffffffu, agents.sizes);
  for (const std::uint64_t n : agents.sizes) {  // 4 bytes per agent
    if (n * 4 <= experiment::available_memory()) continue;
    throw Error(fmt::format("n = {} needs {} bytes, more than this machine has free", n, n * 4));
  }
  set_repeats(options, agents.repeats);
  bench::run_agents(agents, print);
}

void bench_counts(const BenchOptions& options) {
  bench::CountsOptions counts;
  const std::vector<std::string_view> known = bench::counts_workloads();
  for (const std::string& workload : options.workloads) {
    if (std::ranges::find(known, workload) == known.end()) {
      throw Error(unknown_name("workload", workload, known));
    }
  }
  counts.workloads = options.workloads;
  set_sizes(options, 1000, std::uint64_t{1} << 62, counts.sizes);
  set_repeats(options, counts.repeats);
  bench::run_counts(counts, print);
}

void bench_electleader(const BenchOptions& options) {
  bench::ElectLeaderOptions electleader;
  set_sizes(options, 16, 10'000, electleader.sizes);
  bench::run_electleader(electleader, print);
}

void bench_exact(const BenchOptions& options) {
  bench::ExactOptions exact;
  set_sizes(options, 1000, 100'000'000, exact.sizes);
  set_repeats(options, exact.repeats);
  bench::run_exact(exact, print);
}

void bench_network(const BenchOptions& options) {
  bench::NetworkOptions network;
  set_sizes(options, 1000, 20'000'000, network.sizes);
  set_repeats(options, network.repeats);
  bench::run_network(network, print);
}

void bench_reactions(const BenchOptions& options) {
  bench::ReactionsOptions reactions;
  set_sizes(options, 1000, std::uint64_t{1} << 40, reactions.sizes);
  set_repeats(options, reactions.repeats);
  bench::run_reactions(reactions, print);
}

void bench_texts(const BenchOptions& options) {
  unsigned repeats = 3;
  set_repeats(options, repeats);
  bench::run_texts(repeats, print);
}

struct Subject {
  std::string_view name;
  void (*run)(const BenchOptions&);
};
constexpr std::array subjects{
    Subject{"agents", bench_agents},
    Subject{"counts", bench_counts},
    Subject{"electleader", bench_electleader},
    Subject{"exact", bench_exact},
    Subject{"network", bench_network},
    Subject{"pairing", [](const BenchOptions&) { bench::run_pairing(print); }},
    Subject{"reactions", bench_reactions},
    Subject{"texts", bench_texts}};

Exit bench(const BenchOptions& options) {
  if (!options.workloads.empty() && options.subject != "counts") {
    throw Error("--workload is an option of `conclave bench counts`");
  }
  const auto found = std::ranges::find(subjects, options.subject, &Subject::name);
  if (found == subjects.end()) {
    std::vector<std::string_view> names;
    for (const Subject& subject : subjects) names.push_back(subject.name);
    throw Error(unknown_name("benchmark", options.subject, names));
  }
  found->run(options);
  return Exit::done;
}

constexpr const char* description = R"(
Subjects:
  agents       the agents engine beside a raw kernel
  counts       the counts engine beside published simulators
  electleader  speed and memory over r
  exact        hitting times of large chains
  network      message passing beside bare queues
  pairing      what drawing by classes saves the counts engine
  reactions    networks of reactions beside Gillespie's direct method
  texts        protocol texts beside the same protocols in C++

Examples:
  conclave bench agents --n 1e9 --repeats 1
  conclave bench counts --workload majority,pll --n 1e12
  conclave bench electleader --n 1000)";

}  // namespace

void add_bench(Command& conclave) {
  auto options = std::make_shared<BenchOptions>();
  Command command = conclave.subcommand("bench", "Check our speed claims on this machine");
  command.word("SUBJECT", options->subject,
               "agents, counts, electleader, exact, network, pairing, reactions or texts");
  command.list_option("--n", "N,...", options->sizes, "Sizes (default: those of the subject)");
  command.list_option("--workload", "NAME,...", options->workloads,
                      "counts: only these (default: all)");
  command.option("--repeats", "R", options->repeats, "Measurements per size (default: 3 or 5)");
  command.footer(description);
  command.runs([options] { return bench(*options); });
}

}  // namespace conclave::cli
