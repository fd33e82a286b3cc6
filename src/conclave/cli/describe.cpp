// `conclave describe`: all that is known about one protocol.
//
// Everything printed comes from the catalog's entry, which a protocol file fills in as a C++ class
// does: what stands here is layout. The JSON of `--format json` is made in
// experiment/description.hpp, which Python and the explorer share.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/join_parts.hpp"
#include "conclave/base/json.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/cli/cli.hpp"
#include "conclave/cli/terminal.hpp"
#include "conclave/experiment/description.hpp"
#include "conclave/experiment/run_text.hpp"

namespace conclave::cli {
namespace {

struct DescribeOptions {
  experiment::RunText run;
  std::string format = "table";
};

constexpr std::string_view implicit_text =
    "implicit election: the leader knows that it leads, the others only that they do not";

// The sizes of a protocol's agents, which n and its parameters decide.
struct AgentSizes {
  AgentCount n;
  double bits;  // per agent
};

void print_line(std::string_view label, std::string_view text, std::size_t column = 22) {
  if (text.empty()) return fmt::print("  {}\n", label);
  fmt::print("  {:<{}} {}\n", label, column, wrapped(text, output_width(), column + 3));
}

// Prints a line unless its text is empty.
void print_fact(std::string_view label, std::string_view text) {
  if (!text.empty()) print_line(label, text);
}

template <class Items, class Label, class Text>
void print_section(std::string_view title, const Items& items, Label label, Text text) {
  if (items.empty()) return;
  fmt::print("\n{}\n", title);
  std::size_t column = 22;
  for (const auto& item : items) column = std::max(column, std::string_view(label(item)).size());
  for (const auto& item : items) print_line(label(item), text(item), column);
}

std::string parameter_text(const catalog::ParameterInfo& parameter) {
  return fmt::format("{}{}default {}; allowed {}", parameter.meaning,
                     parameter.meaning.empty() ? "" : "; ", parameter.fallback, parameter.allowed);
}

std::string function_text(const catalog::Entry& entry, const RareFunction& function) {
  return fmt::format("{}: {}", entry.rare_ways[function.way].name, function.meaning);
}

std::string variable_text(const Variable& variable) {
  if (variable.meaning.empty()) return std::string(variable.domain);
  return fmt::format("{}   {}", variable.domain, variable.meaning);
}

std::string bytes_text(std::size_t bytes) {
  return fmt::format("{} {}", bytes, bytes == 1 ? "byte" : "bytes");
}

// How the algorithm is known, and from which text.
std::string source_text(const ProtocolInfo& info) {
  const std::string_view name = name_of(info.source);
  return info.version.empty() ? std::string(name) : fmt::format("{}: {}", name, info.version);
}

std::string memory_text(const catalog::Entry& entry) {
  if (entry.network) {
    return bytes_text(entry.bytes_per_agent) + " per node, and the messages on their way";
  }
  const bool may_grow = entry.most_bytes_per_agent > entry.bytes_per_agent;
  return fmt::format(
      "{} per agent (engine agents){}{}", bytes_text(entry.bytes_per_agent),
      may_grow ? fmt::format(", {} where many states occur", entry.most_bytes_per_agent) : "",
      entry.info.memory);
}

std::optional<AgentSizes> agent_sizes(const DescribeOptions& options, const catalog::Entry& entry) {
  if (options.run.n.empty()) {
    if (options.run.params.empty()) return std::nullopt;
    throw Error("--param needs --n: how many states an agent has depends on both");
  }
  const auto run = entry.prepare(
      experiment::request_of(entry, options.run, {.command = "describe", .n = "100"}));
  if (entry.network)
    throw Error(fmt::format("--n says nothing about {}, whose nodes are no finite "
                            "automata",
                            entry.info.name));
  return AgentSizes{run->n(), run->state_bits()};
}

Exit describe_table(const catalog::Entry& entry, const std::optional<AgentSizes>& known) {
  const ProtocolInfo& info = entry.info;
  fmt::print("{}\n\n", wrapped(fmt::format("{}: {}", info.name, info.title), output_width(), 2));
  print_fact("paper", info.paper);
  if (!info.paper.empty()) print_line("source", source_text(info));
  if (info.problem == Problem::implicit_election) print_line("problem", implicit_text);
  print_line("network", info.network);
  if (info.smallest_n > 2) print_line("smallest n", fmt::format("{}", info.smallest_n));
  print_line("convergence", info.convergence);
  print_fact("published bound", info.bound);
  print_fact("can fail", info.failure);
  print_fact("expected time", info.closed_form);
  if (entry.network) {
    print_line("messages", join_parts(entry.network->kinds, ", "));
  } else {
    print_line("states per agent", info.states);
    if (known)
      print_line("bits per agent", fmt::format("{:.1f} with n = {}", known->bits, known->n));
  }
  print_line("memory", memory_text(entry));
  for (const catalog::Detail& detail : entry.details) print_line(detail.name, detail.text);
  const auto name = [](const auto& item) { return item.name; };
  const auto meaning = [](const auto& item) { return item.meaning; };
  print_section("Variables", info.variables, name, variable_text);
  print_section(
      entry.network ? "What a node does (when it is woken, or gets a message)"
                    : "What two agents do (lines of the paper's pseudocode, in our own words)",
      info.steps, [](const PseudocodeStep& step) { return step.line; },
      [](const PseudocodeStep& step) { return step.text; });
  print_section("Parameters (--param)", entry.parameters, name, parameter_text);
  print_section("Initial configurations (--init; the first is the default)", entry.starts, name,
                meaning);
  if (entry.network) {
    print_section("Identifiers (--ids; the first is the default)", entry.network->ids, name,
                  meaning);
    print_section("Delays (--delay; default unit)", entry.network->delays, name, meaning);
    print_section("Wake-ups (--wakeup; default all)", entry.network->wakeups, name, meaning);
  }
  print_section("Engines (--engine)", entry.engines, name, meaning);
  print_section("Observables", info.observables, name, meaning);
  print_section("Rare failures (rare --way)", entry.rare_ways, name, meaning);
  print_section("Importance functions (rare --importance)", entry.rare_functions, name,
                [&](const RareFunction& function) { return function_text(entry, function); });
  print_section(
      "Warnings", entry.warnings, [](const std::string& warning) { return warning; },
      [](const std::string&) { return std::string_view(); });
  print_section(
      "Errata and readings", info.errata,
      [](const Erratum& e) { return fmt::format("{}  {}", e.id, e.place); },
      [](const Erratum& e) { return e.remark; });
  return Exit::done;
}

Exit describe(const DescribeOptions& options) {
  catalog::Entry entry = catalog::find(options.run.protocol);
  if (entry.examine) entry.examine(entry);
  const std::optional<AgentSizes> known = agent_sizes(options, entry);
  if (options.format == "table") return describe_table(entry, known);
  Json description = experiment::description_of(entry);
  if (known) description["bits_per_agent"] = known->bits;
  fmt::print("{}\n", description.dump(2));
  return Exit::done;
}

}  // namespace

void add_describe(Command& conclave) {
  auto options = std::make_shared<DescribeOptions>();
  Command command = conclave.subcommand(
      "describe", "Describe one protocol: paper, variables, parameters, errata");
  command.word("PROTOCOL", options->run.protocol,
               "A name from `conclave list`, or a file: my.pp, my.crn");
  command.run_options(
      experiment::by_describe, options->run,
      {{"n", "Also print how many bits an agent needs in a population of this size"}});
  command.option("--format", "F", options->format, "table or json (default table)");
  command.file_size_option();
  command.footer(R"(
Examples:
  conclave describe pll
  conclave describe electleader --n 128 --param r=16
  conclave describe prl --format json
  conclave describe protocols/epidemic.pp)");
  command.runs([options] {
    options->format = format_option(options->format, table_or_json);
    return describe(*options);
  });
}

}  // namespace conclave::cli
