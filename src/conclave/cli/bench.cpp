// `conclave bench`: checks the request and starts the program that has the benchmarks.
// That program is built by itself: peers and kernels that nothing else needs are linked into it.
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
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/join_parts.hpp"
#include "conclave/cli/cli.hpp"
#include "conclave/cli/terminal.hpp"
#include "conclave/cli/version.hpp"
#include "conclave/experiment/runner.hpp"

#include "bench/subjects.hpp"

namespace conclave::cli {
namespace {

struct BenchOptions {
  std::string subject;
  std::vector<std::string> sizes;
  std::vector<std::string> workloads;
  std::string repeats;
  std::string peers;
  std::string save;
  std::string compare;
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

void check_files(const BenchOptions& options) {
  const std::string& subject = options.subject;
  if (!options.peers.empty() && subject != "agents" && subject != "counts") {
    throw Error("--peers is an option of `conclave bench agents` and `conclave bench counts`");
  }
  if (!(options.save + options.compare).empty() && subject != "all") {
    throw Error("--save and --compare are options of `conclave bench all`");
  }
}

// The options that are handed over by name.
std::vector<std::string> named_words(const BenchOptions& options) {
  std::vector<std::string> words{"code=" + code_version()};
  if (!options.peers.empty()) words.push_back("peers=" + options.peers);
  if (!options.save.empty()) words.push_back("save=" + options.save);
  if (!options.compare.empty()) words.push_back("compare=" + options.compare);
  return words;
}

std::uint64_t repeats_of(const BenchOptions& options) {
  if (options.repeats.empty()) return 0;
  return count_option_64("--repeats", options.repeats, 1, 1000);
}

// Replaces this process by `conclave-bench` from the same folder; returns only if that fails.
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
  check_files(options);
  const std::vector<std::uint64_t> sizes = sizes_of(options, subject);
  const std::uint64_t repeats = repeats_of(options);
  std::vector<std::string> words{options.subject, join_parts(sizes, ","),
                                 join_parts(options.workloads, ","), fmt::to_string(repeats)};
  for (std::string& word : named_words(options)) words.push_back(std::move(word));
  become_bench(std::move(words));
  if (errno != ENOENT) {
    throw std::system_error(errno, std::generic_category(), "cannot start conclave-bench");
  }
  throw Error("the benchmarks are not built; build them with: "
              "cmake --build --preset release --target conclave-bench");
}

constexpr const char* description = R"(
Subjects:
  agents       the agents engine and a raw kernel
  all          a few cells of every engine, to be saved and compared
  counts       the counts engine and published simulators
  electleader  speed and memory over r
  exact        hitting times of large chains
  network      message passing and bare queues
  pairing      what drawing by classes saves the counts engine
  reactions    networks of reactions and Gillespie's direct method
  texts        protocol files and the same protocols in C++

Examples:
  conclave bench agents --n 1e9 --repeats 1
  conclave bench counts --workload majority,pll --n 1e12
  conclave bench electleader --n 1000
  conclave bench all --save before.json
  conclave bench all --compare before.json

`all` measures each cell as a ratio to a calibration kernel that is run before and after it. With
--compare the exit status is 4 if a cell is slower than recorded by more than 10 %.)";

}  // namespace

void add_bench(Command& conclave) {
  auto options = std::make_shared<BenchOptions>();
  Command command = conclave.subcommand("bench", "Check our speed claims on this machine");
  command.word("SUBJECT", options->subject,
               "agents, all, counts, electleader, exact, network, pairing, reactions or texts");
  command.list_option("--n", "N,...", options->sizes, "Sizes (default: those of the subject)");
  command.list_option("--workload", "NAME,...", options->workloads,
                      "counts: only these (default: all)");
  command.option("--repeats", "R", options->repeats, "Measurements per size (default: 3 or 5)");
  command.option("--save", "FILE", options->save, "all: write the ratios to FILE (JSON)");
  command.option("--compare", "FILE", options->compare, "all: compare with the ratios in FILE");
  command.option("--peers", "FILE", options->peers,
                 "agents, counts: rates of other simulators on this machine (JSON) instead of the "
                 "constants, which were measured on another");
  command.footer(description);
  command.runs([options] { return bench_subject(*options); });
}

}  // namespace conclave::cli
