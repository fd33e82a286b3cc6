// The commands. Each one is a file: it parses, calls and prints.
#pragma once

#include <functional>
#include <string>
#include <vector>

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

// An option that may be given several times, and the one for parameters, which many commands have.
CLI::Option* add_repeatable_option(CLI::App& command, const std::string& name,
                                   std::vector<std::string>& values, const std::string& meaning);
void add_param_option(CLI::App& command, std::vector<std::string>& params);

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
