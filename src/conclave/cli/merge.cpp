// `conclave merge`: the shards of a sweep in one file.
// Rows that two files both have must be equal; otherwise nothing is written.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "conclave/cli/cli.hpp"
#include "conclave/cli/terminal.hpp"
#include "conclave/sweep/store.hpp"

namespace conclave::cli {
namespace {

struct MergeOptions {
  std::vector<std::string> files;
  std::string output;
};

Exit run(const MergeOptions& options) {
  const sweep::Merged merged = sweep::merge(options.files, options.output);
  tell("{}: {} rows", options.output, merged.rows);
  if (merged.missing > 0) {
    tell("; {} are missing: `conclave sweep PLAN -o {}` runs them", merged.missing, options.output);
  }
  tell("\n");
  return Exit::done;
}

}  // namespace

void add_merge(Command& conclave) {
  auto options = std::make_shared<MergeOptions>();
  Command command = conclave.subcommand("merge", "Put the results of shards together");
  command.words("FILE", options->files, "Files that `conclave sweep --shard` has written");
  command.required_option("-o,--output", "FILE", options->output,
                          "The file for all rows; created, or added to");
  command.file_size_option();
  command.footer(R"(
Example:
  for i in 1 2 3; do conclave sweep plan.toml --shard $i/3 -o part$i.db; done
  conclave merge part1.db part2.db part3.db -o results.db)");
  command.runs([options] { return run(*options); });
}

}  // namespace conclave::cli
