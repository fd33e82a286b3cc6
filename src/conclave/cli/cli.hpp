// The commands. Each one is a file: it parses, calls and prints.
#pragma once

#include <functional>
#include <string>

#include <CLI/CLI.hpp>

namespace conclave::cli {

// Exit statuses are part of the contract with scripts.
enum class Exit : int {
  done = 0,
  failed = 1,
  misused = 2,
  not_converged = 3,
  does_not_hold = 4,
  interrupted = 130,
};

// What main() runs after the command line has been parsed.
using Action = std::function<Exit()>;

// Each adds its subcommand, which sets `action` when it is chosen.
void add_bench(CLI::App& app, Action& action);
void add_compare(CLI::App& app, Action& action);
void add_demo(CLI::App& app, Action& action);
void add_describe(CLI::App& app, Action& action);
void add_explore(CLI::App& app, Action& action);
void add_list(CLI::App& app, Action& action);
void add_plot(CLI::App& app, Action& action);
void add_run(CLI::App& app, Action& action);
void add_search(CLI::App& app, Action& action);
void add_solve(CLI::App& app, Action& action);
void add_verify(CLI::App& app, Action& action);

}  // namespace conclave::cli
