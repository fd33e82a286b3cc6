// `conclave bench`: the benchmarks of bench/, on the user's machine.
#include <array>
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
#include "bench/exact_bench.hpp"

namespace conclave::cli {
namespace {

struct Options {
  std::string subject;
  std::vector<std::string> sizes;
  std::string repeats = "5";
};

// The engine's largest index, and what the machine can hold in 4 bytes per agent.
std::uint64_t benchmark_size(const std::string& text) {
  const std::uint64_t n = count_option_64("--n", text, 1000, 0xffffffffu);
  if (n * 4 > experiment::available_memory()) {
    throw Error(fmt::format("n = {} needs {} bytes, more than this machine has free", n, n * 4));
  }
  return n;
}

void print_line(const std::string& line) {
  fmt::print("{}", line);
  std::fflush(stdout);
}

Exit bench(const Options& options) {
  constexpr std::array<std::string_view, 2> subjects{"agents", "exact"};
  std::vector<std::uint64_t> sizes;
  for (const std::string& size : options.sizes) sizes.push_back(benchmark_size(size));
  const auto repeats =
      static_cast<unsigned>(count_option_64("--repeats", options.repeats, 1, 1000));
  if (options.subject == "agents") {
    bench::AgentsOptions agents{.repeats = repeats};
    if (!sizes.empty()) agents.sizes = sizes;
    bench::run_agents(agents, print_line);
  } else if (options.subject == "exact") {
    bench::ExactOptions exact{.repeats = repeats};
    if (!sizes.empty()) exact.sizes = sizes;
    bench::run_exact(exact, print_line);
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
                   "agents: the agents engine and the raw machine; exact: hitting times of "
                   "large chains")
      ->required();
  command
      ->add_option("--n", options->sizes,
                   "Sizes of populations (default 1e4,1e6,1e8) or chains (1e6)")
      ->type_name("N,...")
      ->delimiter(',');
  command->add_option("--repeats", options->repeats, "Measurements per size (default 5)")
      ->type_name("R");
  command->footer(
      "\nExamples:\n  conclave bench agents\n  conclave bench agents --n 1e9 --repeats 1\n"
      "  conclave bench exact");
  command->callback([options, &action] { action = [options] { return bench(*options); }; });
}

}  // namespace conclave::cli
