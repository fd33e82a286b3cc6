// The commands. Each one is a file: it parses, calls and prints.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "conclave/cli/command.hpp"
#include "conclave/experiment/run_text.hpp"

namespace conclave::cli {

// Each adds its command to the program.
void add_bench(Command& conclave);
void add_cluster(Command& conclave);
void add_compare(Command& conclave);
void add_demo(Command& conclave);
void add_describe(Command& conclave);
void add_explore(Command& conclave);
void add_explorer(Command& conclave);
void add_generate(Command& conclave);
void add_list(Command& conclave);
void add_merge(Command& conclave);
void add_node(Command& conclave);
void add_plot(Command& conclave);
void add_prove(Command& conclave);  // only where there is Z3
void add_rare(Command& conclave);
void add_replay(Command& conclave);
void add_report(Command& conclave);
void add_reproduce(Command& conclave);
void add_results(Command& conclave);
void add_run(Command& conclave);
void add_search(Command& conclave);
void add_solve(Command& conclave);
void add_sweep(Command& conclave);
void add_verify(Command& conclave);

// For `conclave complete WORD...`, by which the scripts in deploy/completions ask, so that all
// shells offer the same words.
//
// The lines that begin with the last of `words`, which is being typed and may be empty: a word, a
// tab, what it means. The words before it are those after the program's name. A line ":files"
// stands for the names of files. Options whose values the protocol on the line names, such as
// --init, have the values of the catalog; no file is read. Never throws for words that make no
// sense: nothing is offered then.
std::string completions(const CommandHelp& program, std::span<const std::string> words);

// Carrying out a plan, for other commands as well.
struct SweepOptions {
  std::string plan;  // or a protocol, whose sweep words and trials describe
  experiment::RunText words{};
  std::string trials{};
  std::string plot{};               // a picture of the growth
  std::vector<std::string> laws{};  // for it, instead of the usual ones
  std::string output;
  std::string threads;
  std::string shard;
  bool dry_run = false;
  bool extend = false;
  bool mix_versions = false;
  bool allow_outside = false;  // the plan may name files that lie outside its folder
  bool quiet = false;
};

// As `conclave sweep` does it, with progress on a terminal.
Exit carry_out(const SweepOptions& options);

// The commands below `conclave cluster` that are about its members.
inline constexpr std::uint64_t most_processes = 2000;  // of a cluster, on one machine or many

// Adds `init`, `add`, `remove` and `repair`.
void add_cluster_members(Command& cluster);

}  // namespace conclave::cli
