// `conclave cluster`: an election between processes of this machine, measured and compared with the
// simulator; `conclave cluster init`: certificates and configurations for a cluster of machines.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/json.hpp"
#include "conclave/base/printable.hpp"
#include "conclave/base/statistics.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/cli/cli.hpp"
#include "conclave/cli/cluster_change.hpp"
#include "conclave/cli/cluster_repair.hpp"
#include "conclave/cli/journal.hpp"
#include "conclave/cli/local_cluster.hpp"
#include "conclave/cli/member_files.hpp"
#include "conclave/cli/terminal.hpp"
#include "conclave/election/service.hpp"
#include "conclave/experiment/runner.hpp"

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
  // Options of `cluster init`.
  std::string folder;
  std::string cluster = "conclave";
  std::string host = "127.0.0.1";
  std::string port = "7000";
  std::string days = "365";
  ClusterRepair repair;
  // Options of `cluster add` and `cluster remove`.
  ClusterChange change;
  bool is_elastic = false;  // of init
};

constexpr std::array<std::string_view, 2> cluster_formats{"table", "jsonl"};
constexpr std::array<std::string_view, 2> wakeups{"all", "one"};
constexpr std::uint64_t most_processes = 2000;
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

Outcome add_up(const LocalElection& election) {
  Outcome outcome{.n = election.reports.size()};
  for (const ProcessReport& report : election.reports) {
    if (!report.leads) continue;
    ++outcome.leaders;
    outcome.leader = report.member;
    outcome.term = report.term;
  }
  for (const ProcessReport& report : election.reports) {
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

std::vector<election::Credentials> issue_all(election::MemberIndex n) {
  const auto validity = election::valid_for(std::chrono::days{1});
  const election::Authority authority = election::make_authority("local", validity);
  std::vector<election::Credentials> all;
  for (election::MemberIndex each = 0; each < n; ++each) {
    all.push_back(election::issue_credentials(authority, {"local", each}, validity));
  }
  return all;
}

LocalClusterOptions cluster_options(const ClusterOptions& options) {
  LocalClusterOptions result{
      .n = static_cast<election::MemberIndex>(count_option_64("--n", options.n, 1, most_processes)),
      .wakes_all = options.wakeup == "all",
      .timeout = std::chrono::seconds(count_option_64("--timeout", options.timeout, 1, 86'400))};
  if (!options.seed.empty()) result.seed = count_option_64("--seed", options.seed, 0, UINT64_MAX);
  if (!options.is_insecure) result.credentials = issue_all(result.n);
  return result;
}

Exit elect(const ClusterOptions& options) {
  outlive_readers();
  if (std::ranges::find(wakeups, options.wakeup) == wakeups.end()) {
    throw Error(unknown_name("wake-up", options.wakeup, wakeups));
  }
  const std::uint64_t elections = count_option_64("--elections", options.elections, 1, 1'000'000);
  LocalClusterOptions cluster = cluster_options(options);
  if (options.is_insecure) {
    write_line(STDERR_FILENO,
               "conclave: insecure: no certificates and no encryption, on loopback only");
  }
  const std::atomic<bool>& stop = interrupted_flag();
  std::vector<Outcome> outcomes;
  for (std::uint64_t each = 0; each < elections && !stop; ++each) {
    outcomes.push_back(add_up(elect_locally(cluster, stop)));
    if (cluster.seed) ++*cluster.seed;
  }
  if (stop) return Exit::interrupted;
  const Expectation expected = simulate(cluster.n, options.wakeup, stop);  // starts threads: last
  bool all_elected = true;
  for (const Outcome& outcome : outcomes) {
    if (!outcome.failure.empty()) write_line(STDERR_FILENO, "conclave: " + outcome.failure);
    if (options.format == "jsonl")
      print_json(outcome, expected, options);
    else if (outcome.failure.empty())
      print_table(outcome, expected);
    all_elected = all_elected && outcome.is_elected();
  }
  return all_elected ? Exit::done : Exit::not_converged;
}

// The host goes into configuration files between quotes.
void check_host(const std::string& host) {
  if (election::is_plain_host(host)) return;
  throw Error(
      fmt::format("--host takes a name or an address, such as 10.0.0.7, not '{}'", excerpt(host)));
}

Exit init(const ClusterOptions& options) {
  check_host(options.host);
  const std::uint64_t n = count_option_64("--n", options.n, 1, most_processes);
  const std::uint64_t port = count_option_64("--port", options.port, 1, 65536 - n);
  const std::chrono::days days(count_option_64("--days", options.days, 1, 36500));
  election::check_cluster_name(options.cluster);
  const std::filesystem::path folder = options.folder;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw Error(fmt::format("cannot make '{}': {}", options.folder, error.message()));
  const auto validity = election::valid_for(days);
  const election::Authority authority = election::make_authority(options.cluster, validity);
  FreshFiles fresh;
  write_new_file(folder / "ca.pem", authority.certificate, fresh);
  write_new_key(folder / "ca.key", authority.key, fresh);
  MemberFiles files{.folder = folder,
                    .member = {options.cluster, 0},
                    .members = {},
                    .is_elastic = options.is_elastic};
  std::vector<election::Endpoint> members;
  for (std::uint64_t each = 0; each < n; ++each) {
    members.push_back(election::parse_endpoint(fmt::format("{}:{}", options.host, port + each)));
    files.members.push_back({static_cast<election::MemberIndex>(each), members.back()});
  }
  if (options.is_elastic &&
      election::encoded_bytes(files.members) + 64 > election::max_message_bytes)
    throw Error("the list of an elastic cluster must fit into one message: take fewer members");
  for (files.member.member = 0; files.member.member < n; ++files.member.member) {
    write_member_files(files, authority, validity, fresh);
    if (!options.is_elastic) continue;
    const std::string state = (folder / (member_name(files.member.member) + ".state")).string();
    election::write_founding_file(state, files.member, members, {});
    fresh.add(state);
    fresh.add(state + ".lock");
  }
  fresh.keep();
  fmt::print("{} members of cluster '{}' in {}: start each with conclave node --config {}\n", n,
             options.cluster, options.folder, (folder / "member-0.toml").string());
  fmt::print("{} signs further members: keep it where nobody else can read it\n",
             (folder / "ca.key").string());
  return Exit::done;
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

void add_init(Command& cluster, ClusterOptions& options) {
  Command init = cluster.subcommand(
      "init", "Write certificates and configurations for the members of a cluster");
  init.word("DIR", options.folder, "The folder to write them to");
  init.option("--n", "N", options.n, "Number of members (default 100)");
  init.option("--cluster", "NAME", options.cluster, "Name of the cluster (default conclave)");
  init.option("--host", "HOST", options.host,
              "Address of all members, to be edited (default 127.0.0.1)");
  init.option("--port", "P", options.port, "Port of member 0; the next has P+1 (default 7000)");
  init.flag("--elastic", options.is_elastic,
            "Members may be added and removed while the cluster runs");
  init.option("--days", "D", options.days, "Days the certificates are valid (default 365)");
  init.footer(R"(
Examples:
  conclave cluster init demo --n 3
  conclave cluster init office --n 5 --cluster office --host 10.0.0.7 --port 9000)");
}

void add_changes(Command& cluster, ClusterOptions& options) {
  Command add = cluster.subcommand("add", "Add a member to a running elastic cluster");
  add.required_option("--config", "FILE", options.change.config, "Configuration of the leader");
  add.required_option("--address", "HOST:PORT", options.change.address,
                      "Where the new member will listen");
  add.option("--authority-key", "FILE", options.change.authority_key,
             "Signs its certificate (default ca.key beside the configuration)");
  add.option("--days", "D", options.change.days, "Days its certificate is valid (default 365)");
  add.footer(R"(
On the leader's machine. Writes certificate, key and configuration of the new member beside those of
the leader and returns when a majority has the new list.

Examples:
  conclave cluster init demo --n 3 --elastic
  conclave cluster add --config demo/member-0.toml --address 127.0.0.1:7003)");
  Command remove = cluster.subcommand("remove", "Remove a member of a running elastic cluster");
  remove.word("MEMBER", options.change.member, "Its number");
  remove.required_option("--config", "FILE", options.change.config, "Configuration of the leader");
  remove.footer(R"(
On the leader's machine. A member that is removed while it runs ends with a sentence.

Examples:
  conclave cluster remove 2 --config demo/member-0.toml)");
}

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
    if (!options->change.address.empty()) return add_member(options->change);
    if (!options->change.member.empty()) return remove_member(options->change);
    if (!options->repair.config.empty()) return repair_member(options->repair);
    return options->folder.empty() ? elect(*options) : init(*options);
  });
  add_init(command, *options);
  add_changes(command, *options);
  add_repair(command, options->repair);
}

}  // namespace conclave::cli
