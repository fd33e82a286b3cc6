// `conclave list`: the catalog in one table.
// By name, or by problem: then elections come first, parts of other protocols last.
#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/json.hpp"
#include "conclave/base/text_table.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/cli/cli.hpp"
#include "conclave/cli/terminal.hpp"

namespace conclave::cli {
namespace {

struct ListOptions {
  std::string by = "name";
  std::string format = "table";
};

constexpr std::array<std::string_view, 2> orders{"name", "problem"};

using Entries = std::vector<const catalog::Entry*>;

// The heading of a group: the problem that its protocols solve, and in which model.
std::string problem_of(const catalog::Entry& entry) {
  const ProtocolInfo& info = entry.info;
  const std::string problem = info.part_of.empty() ? std::string(name_of(info.problem))
                                                   : fmt::format("part of {}", info.part_of);
  return fmt::format("{}: {}", problem, info.network);
}

// Elections first, parts last; within a problem by network, then by name.
Entries sorted_entries(bool by_problem) {
  Entries entries;
  for (const catalog::Entry& entry : catalog::entries()) entries.push_back(&entry);
  if (!by_problem) return entries;
  std::ranges::stable_sort(entries, {}, [](const catalog::Entry* entry) {
    const ProtocolInfo& info = entry->info;
    return std::tuple(!info.part_of.empty(), info.problem, info.network);
  });
  return entries;
}

std::vector<std::string> line_of(const catalog::Entry& entry) {
  return {std::string(entry.info.name), std::string(entry.info.network),
          entry.info.bound.empty() ? "-" : std::string(entry.info.bound),
          std::string(entry.info.title)};
}

Exit list_table(const Entries& entries, bool by_problem) {
  using enum TextTable::Align;
  TextTable table({{"PROTOCOL", left},
                   {"NETWORK", left, true},
                   {"BOUND OF THE PAPER", left, true},
                   {"WHAT IT DOES", left, true}});
  for (const catalog::Entry* entry : entries) table.add(line_of(*entry));
  const TextTable::Widths widths = table.widths_within(output_width());
  fmt::print("{}", table.titles(widths));
  std::string problem;
  for (const catalog::Entry* entry : entries) {
    if (by_problem && problem_of(*entry) != problem) {
      problem = problem_of(*entry);
      fmt::print("\n{}\n", problem);
    }
    fmt::print("{}", table.row(line_of(*entry), widths));
  }
  fmt::print("\nconclave describe NAME describes one of them.\n");
  fmt::print("A protocol of your own is a protocol file: conclave run my.pp --n 1000\n");
  return Exit::done;
}

Exit list_json(const Entries& entries) {
  Json all = Json::array();
  for (const catalog::Entry* entry : entries) {
    Json one{{"name", entry->info.name},       {"title", entry->info.title},
             {"network", entry->info.network}, {"bound", entry->info.bound},
             {"paper", entry->info.paper},     {"source", name_of(entry->info.source)}};
    if (entry->info.part_of.empty()) {
      one["problem"] = name_of(entry->info.problem);
    } else {
      one["part_of"] = entry->info.part_of;
    }
    all.push_back(std::move(one));
  }
  fmt::print("{}\n", all.dump(2));
  return Exit::done;
}

Exit list(const ListOptions& options) {
  if (std::ranges::find(orders, options.by) == orders.end()) {
    throw Error(unknown_name("order", options.by, orders));
  }
  const bool by_problem = options.by == "problem";
  if (options.format == "json") return list_json(sorted_entries(by_problem));
  return list_table(sorted_entries(by_problem), by_problem);
}

}  // namespace

void add_list(Command& conclave) {
  auto options = std::make_shared<ListOptions>();
  Command command = conclave.subcommand("list", "List the protocols of the catalog");
  command.option("--by", "ORDER", options->by,
                 "name, or problem: grouped by what is solved and where (default name)");
  command.option("--format", "F", options->format, "table or json (default table)");
  command.footer(R"(
Examples:
  conclave list
  conclave list --by problem
  conclave list --format json)");
  command.runs([options] {
    options->format = format_option(options->format, table_or_json);
    return list(*options);
  });
}

}  // namespace conclave::cli
