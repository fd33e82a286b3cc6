// The command line: parse, run the chosen command, turn exceptions into one sentence and a status.
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/cli/cli.hpp"

namespace conclave::cli {
namespace {

constexpr const char* overview = R"(
Examples:
  conclave demo                              every protocol elects a leader
  conclave list                              what there is
  conclave describe pll                      paper, variables, parameters, errata
  conclave run pll --n 1e6 --trials 100      statistics of 100 elections
  conclave run pll --n 1e4 --trials 400 --seed 7 --format jsonl
  conclave verify prl --n 3                  lemmas and exact times, over all configurations
  conclave explore kmpp-async --n 4          every schedule of four nodes
  conclave compare --n 1000                  message passing, promised and measured
  conclave plot trace.csv -o trace.svg       a picture of a run with --trace
  conclave solve chain.tra --target done     hitting times of a Markov chain, certified
  conclave bench agents                      how fast, and how far from the machine's limit)";

// The names a wrong word could have been meant for: options of the chosen command, or commands.
std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

std::string unknown(std::string_view kind, const std::string& given,
                    const std::vector<std::string>& names) {
  return unknown_name(kind, given, std::vector<std::string_view>(names.begin(), names.end()));
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// CLI11 knows what is wrong; we say which word was probably meant.
std::string explain(const CLI::App& app, const CLI::ParseError& error,
                    const std::vector<std::string>& words) {
  if (words.empty()) return "a command is missing; try: conclave --help";
  const auto commands = command_names(app);
  const bool is_option = words[0].starts_with('-');
  if (!is_option && std::ranges::find(commands, words[0]) == commands.end()) {
    return unknown("command", words[0], commands);
  }
  const auto chosen = app.get_subcommands();
  const CLI::App& command = chosen.empty() ? app : *chosen.front();
  if (is_option && chosen.empty()) return unknown("option", words[0], option_names(app));
  if (std::string_view(error.what()).find("At Most 1") != std::string_view::npos) {
    const std::string text = error.what();
    return fmt::format("{} was given more than once", text.substr(0, text.find(':')));
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr) {
    return fmt::format("{}; try: conclave {}--help", first_line(error.what()),
                       chosen.empty() ? "" : command.get_name() + " ");
  }
  for (const std::string& word : app.remaining(true)) {
    const std::string name = word.substr(0, word.find('='));
    if (word.starts_with('-')) return unknown("option", name, option_names(command));
  }
  return fmt::format("unexpected word '{}'", app.remaining(true).front());
}

Exit run(int argc, char** argv) {
  CLI::App app("conclave: a laboratory for randomized leader election", "conclave");
  app.set_version_flag("--version", "conclave " CONCLAVE_VERSION);
  app.require_subcommand(1);
  app.footer(overview);
  Action action;
  add_demo(app, action);
  add_list(app, action);
  add_describe(app, action);
  add_run(app, action);
  add_verify(app, action);
  add_search(app, action);
  add_explore(app, action);
  add_compare(app, action);
  add_plot(app, action);
  add_solve(app, action);
  add_bench(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    return static_cast<Exit>(app.exit(success));
  } catch (const CLI::ParseError& error) {
    throw Error(explain(app, error, {argv + 1, argv + argc}));
  }
  return action();
}

Exit run_and_explain(int argc, char** argv) {
  try {
    const Exit status = run(argc, argv);
    if (std::fflush(stdout) == 0) return status;
    fmt::print(stderr, "conclave: cannot write standard output\n");
  } catch (const Error& error) {
    fmt::print(stderr, "conclave: {}\n", error.what());
    return Exit::misused;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "conclave: out of memory\n");
  } catch (const std::exception& error) {
    fmt::print(stderr, "conclave: {}\n", error.what());
  }
  return Exit::failed;
}

}  // namespace
}  // namespace conclave::cli

int main(int argc, char** argv) {
  return static_cast<int>(conclave::cli::run_and_explain(argc, argv));
}
