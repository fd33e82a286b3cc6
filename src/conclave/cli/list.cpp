// `conclave list`: the catalog in one table.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/cli/cli.hpp"
#include "conclave/experiment/json.hpp"

namespace conclave::cli {
namespace {

using experiment::Json;

Exit list_table() {
  fmt::print("{:<17} {:<23} {:<31} {}\n", "PROTOCOL", "NETWORK", "BOUND OF THE PAPER",
             "WHAT IT DOES");
  for (const catalog::Entry& entry : catalog::entries()) {
    fmt::print("{:<17} {:<23} {:<31} {}\n", entry.info.name, entry.info.network,
               entry.info.bound.empty() ? "-" : entry.info.bound, entry.info.title);
  }
  fmt::print("\nconclave describe NAME tells everything about one of them.\n");
  fmt::print("A protocol of your own is a text file: conclave run my.pp --n 1000\n");
  return Exit::done;
}

Exit list_json() {
  Json all = Json::array();
  for (const catalog::Entry& entry : catalog::entries()) {
    all.push_back({{"name", entry.info.name},
                   {"title", entry.info.title},
                   {"network", entry.info.network},
                   {"bound", entry.info.bound},
                   {"paper", entry.info.paper}});
  }
  fmt::print("{}\n", all.dump(2));
  return Exit::done;
}

}  // namespace

void add_list(Command& conclave) {
  auto format = std::make_shared<std::string>("table");
  Command command = conclave.subcommand("list", "List the protocols of the catalog");
  command.option("--format", "F", *format, "table or json (default table)");
  command.footer(R"(
Examples:
  conclave list
  conclave list --format json)");
  command.runs([format] {
    if (*format == "table") return list_table();
    if (*format == "json") return list_json();
    constexpr std::array<std::string_view, 2> formats{"table", "json"};
    throw Error(unknown_name("format", *format, formats));
  });
}

}  // namespace conclave::cli
