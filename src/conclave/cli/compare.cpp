// `conclave compare`: the message-passing protocols side by side, or the rows of a paper's table,
// promised and measured.
//
// Without --table, every protocol of the catalog that runs on the graph takes part, and one that
// refuses this n says why in its line. With --table, compare_table.hpp takes over.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/join_parts.hpp"
#include "conclave/base/json.hpp"
#include "conclave/base/statistics.hpp"
#include "conclave/base/text_table.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/cli/cli.hpp"
#include "conclave/cli/compare_table.hpp"
#include "conclave/cli/terminal.hpp"
#include "conclave/experiment/row.hpp"
#include "conclave/experiment/run_options.hpp"
#include "conclave/experiment/run_text.hpp"
#include "conclave/experiment/runner.hpp"

namespace conclave::cli {
namespace {

struct ComparisonRow {
  std::string_view protocol;
  std::string_view network;  // asynchronous or synchronous
  Problem problem = Problem::election;
  std::string_view bound;  // of the paper
  bool needs_identifiers = false;
  std::string refusal{};  // why it was not run; empty: it was
  std::uint64_t trials = 0;
  std::uint64_t elected = 0;  // trials with exactly one leader, known to all it must be known to
  Summary messages_per_node{};
  Summary time{};  // units of time from the first wake-up to the last sending, or rounds
};

// A name that no protocol knows is the user's mistake, not a reason to leave protocols out.
template <class Offered>
void check_name(std::string_view kind, const std::string& name, Offered offered) {
  std::vector<std::string_view> names;
  for (const catalog::Entry& entry : catalog::entries()) {
    if (!entry.network) continue;
    for (const catalog::Named& each : offered(*entry.network)) {
      if (std::ranges::find(names, each.name) == names.end()) names.push_back(each.name);
    }
  }
  const bool is_known = name.empty() || std::ranges::find(names, name) != names.end();
  if (!is_known) throw Error(unknown_name(kind, name, names));
}

// Without a name, complete networks are compared.
bool runs_on(const catalog::NetworkOffer& offer, const std::string& graph) {
  const std::string_view wanted = graph.empty() ? std::string_view("complete") : graph;
  return offer.runs_on_any_graph || offer.own_graph == wanted;
}

bool offers_anonymity(const catalog::Entry& entry) {
  return std::ranges::any_of(entry.network->ids,
                             [](const catalog::Named& ids) { return ids.name == "anonymous"; });
}

ComparisonRow row_of(const catalog::Entry& entry) {
  return {.protocol = entry.info.name,
          .network = entry.info.network,
          .problem = entry.info.problem,
          .bound = entry.info.bound,
          .needs_identifiers = !offers_anonymity(entry)};
}

void measure(ComparisonRow& row, const catalog::PreparedRun& run, std::uint64_t trials,
             const std::atomic<bool>& stop) {
  const unsigned threads = experiment::worker_count(run, trials, std::nullopt);
  std::vector<double> messages;
  std::vector<double> times;
  const auto take = [&](const experiment::Row& trial) {
    const NetworkOutcome& outcome = *trial.result.network;
    messages.push_back(trial.result.interactions.as_double() / static_cast<double>(run.n()));
    times.push_back(outcome.rounds ? static_cast<double>(*outcome.rounds) : outcome.time);
    row.elected += trial.result.ending == Ending::converged ? 1 : 0;
  };
  experiment::Progress progress;
  row.trials =
      experiment::run_trials(run, {.trials = trials, .threads = threads}, take, progress, stop);
  if (row.trials == 0) return;
  row.messages_per_node = summarize(messages);
  row.time = summarize(times);
}

// Trials of every protocol that runs on the graph of the words, by default complete networks; their
// delay counts for asynchronous protocols only, and they name no protocol. Deterministic; sorted by
// model, then by name. Protocols that refuse this n say why. Stops early, with the rows so far,
// when `stop` becomes true. Throws Error for words that no protocol understands.
std::vector<ComparisonRow> compared_networks(const experiment::RunText& words, std::uint64_t trials,
                                             const std::atomic<bool>& stop) {
  check_name("delay", words.delay, [](const auto& offer) { return offer.delays; });
  check_name("wake-up", words.wakeup, [](const auto& offer) { return offer.wakeups; });
  std::vector<ComparisonRow> rows;
  std::optional<catalog::RunRequest> common;  // with the graph, which is made once
  for (const catalog::Entry& entry : catalog::entries()) {
    if (!entry.network || stop || !runs_on(*entry.network, words.graph)) continue;
    if (!common) common = experiment::request_of(entry, words);
    catalog::RunRequest request = *common;
    if (entry.network->delays.empty()) request.network.delay.clear();
    ComparisonRow row = row_of(entry);
    try {
      measure(row, *entry.prepare(request), trials, stop);
    } catch (const Error& error) {
      row.refusal = error.what();
    }
    rows.push_back(std::move(row));
  }
  if (rows.empty() && !stop) {
    throw Error("no protocol of the catalog runs on --graph " + words.graph);
  }
  std::ranges::stable_sort(rows, {}, [](const ComparisonRow& row) {
    return row.network.find("asynchronous") == std::string_view::npos;
  });
  return rows;
}

std::string_view without(std::string_view ending, std::string_view text) {
  return text.ends_with(ending) ? text.substr(0, text.size() - ending.size()) : text;
}

// "O(n) msgs, O(log^2 n) time" in two columns.
std::pair<std::string_view, std::string_view> split_bound(std::string_view bound) {
  const std::size_t comma = std::min(bound.find(", "), bound.size());
  const std::string_view rest = bound.substr(std::min(comma + 2, bound.size()));
  return {without(" messages", without(" msgs", bound.substr(0, comma))), without(" time", rest)};
}

// "complete, synchronous" without what all have in common; implicit: only the leader knows.
std::string model_of(const ComparisonRow& row) {
  const std::size_t last_word = std::min(row.network.rfind(' ') + 1, row.network.size());
  const std::string model(row.network.substr(last_word));
  return row.problem == Problem::implicit_election ? model + ", implicit" : model;
}

// The entries of a row in the table and in the CSV, one per column.
std::vector<std::string> entries_of(const ComparisonRow& row, std::string_view nothing) {
  const auto [messages, time] = split_bound(row.bound);
  const bool was_run = row.refusal.empty();
  const auto number = [&](double value) {
    return was_run ? fmt::format("{:.4g}", value) : std::string(nothing);
  };
  return {std::string(row.protocol),
          model_of(row),
          std::string(messages),
          std::string(time),
          number(row.messages_per_node.mean),
          number(row.time.mean),
          number(row.time.maximum)};
}

constexpr std::string_view legend =
    "MESSAGES and the first TIME are the papers' bounds, the rest is measured: means over the "
    "trials; time in units (the longest delay of a message) or rounds. IDS: whether nodes need "
    "identifiers.";

void print_table(const CompareOptions& options, const std::vector<ComparisonRow>& rows) {
  using enum TextTable::Align;
  const std::size_t width = output_width();
  const experiment::RunText& words = options.words;
  const std::string heading = fmt::format(
      "Elections in {}: n = {}, {} trial{}, seed {}, delay {}, wake-up {}",
      words.graph.empty() ? "complete networks" : "networks of graph " + words.graph, words.n,
      options.trials, options.trials == "1" ? "" : "s", words.seed, words.delay, words.wakeup);
  fmt::print("{}\n\n", wrapped(heading, width, 2));
  TextTable table({{"ALGORITHM", left},
                   {"MODEL", left, true},
                   {"MESSAGES", left, true},
                   {"TIME", left, true},
                   {"MESSAGES / NODE", right, true},
                   {"TIME"},
                   {"LONGEST"},
                   {"IDS", left},
                   {"ELECTED", left, true}});
  for (const ComparisonRow& row : rows) {
    std::vector<std::string> entries = entries_of(row, "-");
    entries.emplace_back(row.needs_identifiers ? "needed" : "none");
    entries.push_back(row.refusal.empty() ? fmt::format("{}/{}", row.elected, row.trials)
                                          : row.refusal);
    table.add(std::move(entries));
  }
  fmt::print("{}\n{}\n", table.text(width), wrapped(legend, width, 0));
}

void print_csv(const std::vector<ComparisonRow>& rows) {
  fmt::print("protocol,model,bound_messages,bound_time,messages_per_node,time,longest_time,"
             "needs_identifiers,trials,elected,refusal\n");
  for (const ComparisonRow& row : rows) {
    std::vector<std::string> entries = entries_of(row, "");
    const bool was_run = row.refusal.empty();
    entries.emplace_back(row.needs_identifiers ? "true" : "false");
    entries.push_back(was_run ? fmt::format("{}", row.trials) : "");
    entries.push_back(was_run ? fmt::format("{}", row.elected) : "");
    entries.push_back(row.refusal);
    for (std::string& entry : entries) entry = csv_field(entry);
    fmt::print("{}\n", join_parts(entries, ","));
  }
}

void print_json(const std::vector<ComparisonRow>& rows) {
  Json all = Json::array();
  for (const ComparisonRow& row : rows) {
    Json json{{"protocol", row.protocol},
              {"network", row.network},
              {"needs_identifiers", row.needs_identifiers},
              {"bound", row.bound}};
    if (row.problem != Problem::election) json["problem"] = conclave::name_of(row.problem);
    if (row.refusal.empty()) {
      json["trials"] = row.trials;
      json["elected"] = row.elected;
      json["messages_per_node"] = row.messages_per_node.mean;
      json["time"] = row.time.mean;
      json["longest_time"] = row.time.maximum;
    } else {
      json["refusal"] = row.refusal;
    }
    all.push_back(std::move(json));
  }
  fmt::print("{}\n", all.dump(2));
}

// Options of tables, which mean nothing where all protocols of the catalog are run.
void refuse_table_options(const experiment::RunText& words) {
  for (const auto member : {&experiment::RunText::init, &experiment::RunText::max_parallel_time}) {
    if ((words.*member).empty()) continue;
    throw Error(fmt::format("{} goes with --table", experiment::option_of(member).flag()));
  }
}

Exit compare_networks(CompareOptions options) {
  experiment::RunText& words = options.words;
  refuse_table_options(words);
  if (words.n.empty()) words.n = "1000";
  if (words.delay.empty()) words.delay = "unit";
  if (words.wakeup.empty()) words.wakeup = "all";
  const std::atomic<bool>& stop = interrupted_flag();
  const std::vector<ComparisonRow> rows =
      compared_networks(words, count_option_64("--trials", options.trials, 1, 1'000'000), stop);
  const bool none_was_run =
      std::ranges::none_of(rows, [](const ComparisonRow& row) { return row.refusal.empty(); });
  if (none_was_run && !rows.empty()) throw Error(rows.front().refusal);
  if (options.format == "json") print_json(rows);
  if (options.format == "csv") print_csv(rows);
  if (options.format == "table") print_table(options, rows);
  if (stop) return Exit::interrupted;
  const bool all_elected =
      std::ranges::all_of(rows, [](const ComparisonRow& row) { return row.elected == row.trials; });
  return all_elected ? Exit::done : Exit::not_converged;
}

Exit compare(const CompareOptions& options) {
  if (options.table.empty()) return compare_networks(options);
  if (!options.words.graph.empty()) throw Error("--graph does not go with --table");
  return compare_table(options);
}

constexpr const char* compare_examples = R"(
Examples:
  conclave compare --n 1000
  conclave compare --table pll --n 1e3,1e4
  conclave compare --table electleader --n 32 --init random --format csv
  conclave compare --table pll --trials 100 --format plan > table-pll.toml
  conclave compare --n 1000 --trials 50 --delay uniform --wakeup random
  conclave compare --n 1e5 --trials 3 --format json
  conclave compare --n 100 --graph ring)";

}  // namespace

void add_compare(Command& conclave) {
  auto options = std::make_shared<CompareOptions>();
  Command command =
      conclave.subcommand("compare", "Compare protocols with their rivals, promised and measured");
  command.option("--table", "NAME", options->table,
                 "electleader, kmpp, pll, ppl or prl: the table of that paper (default: all "
                 "message-passing protocols)");
  command.run_options(
      experiment::by_compare, options->words,
      {{"n",
        "Number of nodes or agents; with --table also several, as 100,1000 (default 1000; with "
        "--table sizes that take some seconds)"},
       {"init",
        "With --table: the initial configuration of all protocols that have it (default: their "
        "own)"},
       {"max_parallel_time",
        "With --table: give up a trial after this much parallel time (default: never)"},
       {"delay", "How long messages take (see `describe`; default unit)"},
       {"wakeup", "Who is woken when (see `describe`; default all)"},
       {"graph",
        "Without --table: protocols that run on this graph, as in `run` (default complete)"}});
  command.option("--trials", "T", options->trials, "Trials of each (default 10)");
  command.option(
      "--format", "F", options->format,
      "table, csv or json; with --table also plan, for `conclave sweep` (default table)");
  command.footer(compare_examples);
  command.runs([options] {
    const bool is_table = !options->table.empty();
    options->format = is_table ? format_option(options->format, paper_table_formats)
                               : format_option(options->format, table_formats);
    return compare(*options);
  });
}

}  // namespace conclave::cli
