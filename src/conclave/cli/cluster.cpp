// `conclave cluster`: an election between processes of this machine, measured and compared with the
// simulator.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/json.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/cli/cli.hpp"
#include "conclave/cli/terminal.hpp"
#include "conclave/experiment/runner.hpp"
#include "election/local_cluster.hpp"

namespace conclave::cli {
namespace {

using election::NoteCounts;
using election::other_messages;
using election::paper_messages;

struct ClusterOptions {
  std::string n = "100";
  std::string wakeup = "all";
  std::string seed;
  std::string elections = "1";
  std::string timeout = "120";
  std::string format = "table";
  bool is_insecure = false;
};

constexpr std::array<std::string_view, 2> cluster_formats{"table", "jsonl"};
constexpr std::array<std::string_view, 2> wakeups{"all", "one"};
constexpr std::uint64_t simulated_trials = 100;

// The simulator's prediction for the same wake-up.
struct Expectation {
  double messages_per_node = 0;
  std::vector<double> by_kind_per_node = std::vector<double>(election::paper_kinds);
};

Expectation simulate(std::uint64_t n, const std::string& wakeup, const std::atomic<bool>& stop) {
  const auto run = catalog::find("kmpp-async")
                       .prepare({.n = n,
                                 .settings = {},
                                 .start = {},
                                 .engine = {},
                                 .seed = 1,
                                 .plan = {},
                                 .network = {.delay = "uniform", .wakeup = wakeup}});
  Expectation result;
  const double share = 1.0 / static_cast<double>(simulated_trials * n);
  const auto take = [&](const experiment::Row& row) {
    const auto& by_kind = row.result.network->by_kind;
    for (std::size_t kind = 0; kind < by_kind.size(); ++kind) {
      const double messages = static_cast<double>(by_kind[kind].messages) * share;
      result.by_kind_per_node[kind] += messages;
      result.messages_per_node += messages;
    }
  };
  experiment::Progress progress;
  run_trials(*run, {.trials = simulated_trials}, take, progress, stop);
  return result;
}

// One election, added up over its processes.
struct Outcome {
  std::uint64_t n = 0;
  std::uint64_t leaders = 0;
  std::uint64_t agreeing = 0;  // processes that know the leader
  std::uint32_t leader = election::nobody;
  std::uint64_t term = 0;
  NoteCounts sent{};
  std::uint64_t bytes = 0;
  std::uint64_t connections = 0;
  double start_seconds = 0;
  double seconds = 0;
  std::string failure{};

  bool is_elected() const { return failure.empty() && leaders == 1 && agreeing == n; }
  double per_process() const {
    return static_cast<double>(paper_messages(sent)) / static_cast<double>(n);
  }
};

Outcome add_up(const election::LocalElection& election) {
  Outcome outcome{.n = election.reports.size()};
  for (const election::ProcessReport& report : election.reports) {
    if (!report.leads) continue;
    ++outcome.leaders;
    outcome.leader = report.member;
    outcome.term = report.term;
  }
  for (const election::ProcessReport& report : election.reports) {
    const bool agrees = report.leader == outcome.leader && report.leader != election::nobody;
    outcome.agreeing += agrees ? 1 : 0;
    for (std::size_t kind = 0; kind < report.sent.size(); ++kind) {
      outcome.sent[kind] += report.sent[kind];
    }
    outcome.bytes += report.bytes;
    outcome.connections += report.connections;
  }
  outcome.start_seconds = election.start_seconds;
  outcome.seconds = election.seconds;
  outcome.failure = election.failure;
  return outcome;
}

double deviation(const Outcome& outcome, const Expectation& expected) {
  if (expected.messages_per_node == 0) return 0;
  return outcome.per_process() / expected.messages_per_node - 1;
}

void print_table(const Outcome& outcome, const Expectation& expected) {
  const auto n = static_cast<double>(outcome.n);
  fmt::print("leader {} of {} processes, term {}, known to {}; {} leader{}\n", outcome.leader,
             outcome.n, outcome.term, outcome.agreeing, outcome.leaders,
             outcome.leaders == 1 ? "" : "s");
  fmt::print("elected in {:.3f} s (processes started in {:.3f} s), {} bytes, {} connections\n\n",
             outcome.seconds, outcome.start_seconds, outcome.bytes, outcome.connections);
  constexpr const char* layout = "{:<10} {:>10} {:>13} {:>11}\n";
  fmt::print(layout, "MESSAGE", "SENT", "PER PROCESS", "SIMULATOR");
  for (std::size_t kind = 0; kind < election::paper_kinds; ++kind) {
    const auto sent = static_cast<double>(outcome.sent[kind]);
    fmt::print(layout, election::count_name(kind), outcome.sent[kind],
               fmt::format("{:.3f}", sent / n),
               fmt::format("{:.3f}", expected.by_kind_per_node[kind]));
  }
  fmt::print(layout, "all", paper_messages(outcome.sent),
             fmt::format("{:.3f}", outcome.per_process()),
             fmt::format("{:.3f}", expected.messages_per_node));
  const std::string verdict = fmt::format(
      "{:+.2f} % against the simulator's mean of {} trials. Beyond the paper, for promises and "
      "leases: {} messages",
      100 * deviation(outcome, expected), simulated_trials, other_messages(outcome.sent));
  fmt::print("\n{}\n", wrapped(verdict, output_width(), 0));
}

Json counts_json(const NoteCounts& counts, std::size_t from, std::size_t to) {
  Json json = Json::object();
  for (std::size_t kind = from; kind < to; ++kind) {
    const bool is_kind = !election::count_name(kind).empty();
    if (is_kind) json[std::string(election::count_name(kind))] = counts[kind];
  }
  return json;
}

void print_json(const Outcome& outcome, const Expectation& expected,
                const ClusterOptions& options) {
  const Json json{
      {"n", outcome.n},
      {"secure", !options.is_insecure},
      {"wakeup", options.wakeup},
      {"elected", outcome.is_elected()},
      {"leader", outcome.leader},
      {"leaders", outcome.leaders},
      {"informed", outcome.agreeing},
      {"term", outcome.term},
      {"messages", paper_messages(outcome.sent)},
      {"messages_by_type", counts_json(outcome.sent, 0, election::paper_kinds)},
      {"messages_per_process", outcome.per_process()},
      {"simulator_messages_per_process", expected.messages_per_node},
      {"beyond_paper", counts_json(outcome.sent, election::paper_kinds, outcome.sent.size())},
      {"bytes", outcome.bytes},
      {"connections", outcome.connections},
      {"start_s", outcome.start_seconds},
      {"election_s", outcome.seconds}};
  fmt::print("{}\n", json.dump());
  std::fflush(stdout);
}

election::LocalClusterOptions cluster_options(const ClusterOptions& options) {
  election::LocalClusterOptions result{
      .n = static_cast<election::MemberIndex>(count_option_64("--n", options.n, 1, most_processes)),
      .wakes_all = options.wakeup == "all",
      .timeout = std::chrono::seconds(count_option_64("--timeout", options.timeout, 1, 86'400))};
  if (!options.seed.empty()) result.seed = count_option_64("--seed", options.seed, 0, UINT64_MAX);
  if (!options.is_insecure) result.credentials = election::local_credentials(result.n);
  return result;
}

Exit elect(const ClusterOptions& options) {
  if (std::ranges::find(wakeups, options.wakeup) == wakeups.end()) {
    throw Error(unknown_name("wake-up", options.wakeup, wakeups));
  }
  const std::uint64_t elections = count_option_64("--elections", options.elections, 1, 1'000'000);
  election::LocalClusterOptions cluster = cluster_options(options);
  if (options.is_insecure)
    tell("conclave: insecure: no certificates and no encryption, on loopback only\n");
  const std::atomic<bool>& stop = interrupted_flag();
  std::vector<Outcome> outcomes;
  for (std::uint64_t each = 0; each < elections && !stop; ++each) {
    outcomes.push_back(add_up(election::elect_locally(cluster, stop)));
    if (cluster.seed) ++*cluster.seed;
  }
  if (stop) return Exit::interrupted;
  const Expectation expected = simulate(cluster.n, options.wakeup, stop);  // starts threads: last
  bool all_elected = true;
  for (const Outcome& outcome : outcomes) {
    if (!outcome.failure.empty()) tell("conclave: {}\n", outcome.failure);
    if (options.format == "jsonl")
      print_json(outcome, expected, options);
    else if (outcome.failure.empty())
      print_table(outcome, expected);
    all_elected = all_elected && outcome.is_elected();
  }
  return all_elected ? Exit::done : Exit::not_converged;
}

constexpr const char* cluster_examples = R"(
Examples:
  conclave cluster --n 100                     TLS 1.3 between 100 processes
  conclave cluster --n 200 --insecure --wakeup one
  conclave cluster --n 50 --elections 100 --format jsonl
  conclave cluster init demo --n 3             certificates and configurations
  conclave cluster repair --config demo/member-1.toml
  conclave cluster add --config demo/member-0.toml --address 127.0.0.1:7003
  conclave cluster remove 3 --config demo/member-0.toml)";

}  // namespace

void add_cluster(Command& conclave) {
  auto options = std::make_shared<ClusterOptions>();
  Command command =
      conclave.subcommand("cluster", "Elect a leader between processes of this machine");
  command.option("--n", "N", options->n, "Number of processes (default 100)");
  command.option("--wakeup", "NAME", options->wakeup,
                 "all or one: who is woken (default all); the others wait");
  command.option("--elections", "E", options->elections,
                 "Number of elections, one after the other (default 1)");
  command.option("--seed", "S", options->seed,
                 "Seed of the coins; the order of messages still depends on the machine");
  command.option("--timeout", "S", options->timeout, "Seconds for one election (default 120)");
  command.option("--format", "F", options->format, "table or jsonl (default table)");
  command.flag("--insecure", options->is_insecure,
               "Without certificates and encryption, on loopback only");
  command.footer(cluster_examples);
  command.runs([options] {
    options->format = format_option(options->format, cluster_formats);
    return elect(*options);
  });
  add_cluster_members(command);
}

}  // namespace conclave::cli
