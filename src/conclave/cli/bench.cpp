// `conclave bench`: checks the request and starts the program that has the benchmarks.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "conclave/base/error.hpp"
#include "conclave/cli/cli.hpp"
#include "conclave/cli/terminal.hpp"
#include "conclave/experiment/memory.hpp"

#include "bench/subjects.hpp"

namespace conclave::cli {
namespace {

struct BenchOptions {
  std::string subject;
  std::vector<std::string> sizes;
  std::vector<std::string> workloads;
  std::string repeats;
};

const bench::Subject& subject_of(const BenchOptions& options) {
  const auto found = std::ranges::find(bench::subjects, options.subject, &bench::Subject::name);
  if (found != bench::subjects.end()) return *found;
  std::vector<std::string_view> names;
  for (const bench::Subject& subject : bench::subjects) names.push_back(subject.name);
  throw Error(unknown_name("benchmark", options.subject, names));
}

// The sizes asked for; none: those of the benchmark itself.
std::vector<std::uint64_t> sizes_of(const BenchOptions& options, const bench::Subject& subject) {
  if (!options.sizes.empty() && subject.largest == 0) {
    throw Error(fmt::format("`conclave bench {}` has sizes of its own, without --n", subject.name));
  }
  std::vector<std::uint64_t> sizes;
  for (const std::string& size : options.sizes) {
    sizes.push_back(count_option_64("--n", size, subject.smallest, subject.largest));
    const std::uint64_t bytes = sizes.back() * 4;  // per agent
    if (subject.name != "agents" || bytes <= experiment::available_memory()) continue;
    throw Error(
        fmt::format("n = {} needs {} bytes, more than this machine has free", sizes.back(), bytes));
  }
  return sizes;
}

void check_workloads(const BenchOptions& options) {
  if (!options.workloads.empty() && options.subject != "counts") {
    throw Error("--workload is an option of `conclave bench counts`");
  }
  for (const std::string& workload : options.workloads) {
    if (std::ranges::find(bench::counts_workloads, workload) == bench::counts_workloads.end()) {
      throw Error(unknown_name("workload", workload, bench::counts_workloads));
    }
  }
}

std::uint64_t repeats_of(const BenchOptions& options) {
  if (options.repeats.empty()) return 0;
  return count_option_64("--repeats", options.repeats, 1, 1000);
}

// Becomes the program `conclave-bench` that lies beside this one; returns only if it cannot.
void become_bench(std::vector<std::string> words) {
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  words.insert(words.begin(), (self.parent_path() / "conclave-bench").string());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::signal(SIGPIPE, SIG_DFL);  // it ends when its reader leaves
  ::execv(arguments.front(), arguments.data());
}

Exit bench_subject(const BenchOptions& options) {
  const bench::Subject& subject = subject_of(options);
  check_workloads(options);
  const std::vector<std::uint64_t> sizes = sizes_of(options, subject);
  const std::uint64_t repeats = repeats_of(options);
  become_bench({options.subject, fmt::format("{}", fmt::join(sizes, ",")),
                fmt::format("{}", fmt::join(options.workloads, ",")), fmt::to_string(repeats)});
  if (errno != ENOENT) {
    throw std::system_error(errno, std::generic_category(), "cannot start conclave-bench");
  }
  throw Error("the benchmarks are not built; build them with: "
              "cmake --build --preset release --target conclave-bench");
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
  command.runs([options] { return bench_subject(*options); });
}

}  // namespace conclave::cli
