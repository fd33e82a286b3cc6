// The program: its commands, and exceptions turned into one sentence and a status.
//
// A mistake of the user is an Error, whose sentence names what was given and what is allowed:
// status
// 2. Whatever else goes wrong, a full disk or a lack of memory, is status 1. Commands return their
// own status for verdicts, and 130 after an interrupt.
#include <cerrno>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/cli/cli.hpp"
#include "conclave/cli/terminal.hpp"
#include "conclave/cli/version.hpp"

namespace conclave::cli {
namespace {

constexpr const char* program_overview = R"(
Examples:
  conclave demo                              every protocol elects a leader
  conclave describe pll                      paper, variables, parameters, errata
  conclave run pll --n 1e6 --trials 20       statistics of 20 elections
  conclave run protocols/approximate_majority.pp --n 1e10
  conclave verify prl --n 3                  lemmas and exact times, over all configurations
  conclave sweep experiments/quick/pll.toml -o results.db
  conclave report results.db -o report.html  tables, fitted laws, figures
  conclave explorer                          watch and attack protocols in a browser
  conclave help run                          options and examples of a command)";

using AddCommand = void (*)(Command&);

// The commands by what they are for, in the order in which the help text lists them.
std::vector<std::pair<std::string, std::vector<AddCommand>>> listed_commands() {
  return {{"Run", {add_demo, add_run, add_list, add_describe}},
          {"Study",
           {add_sweep, add_results, add_report, add_reproduce, add_compare, add_replay, add_merge}},
          {"Prove", {add_verify, add_prove, add_search, add_rare, add_explore, add_solve}},
          {"See", {add_explorer, add_plot}},
          {"Operate", {add_cluster, add_node, add_bench, add_generate}}};
}

Exit run_command(int argc, char** argv) {
  Program program("conclave: a laboratory for randomized leader election",
                  "conclave " + version_and_commit(), program_overview);
  for (const auto& [heading, commands] : listed_commands()) {
    program.root().heading(heading);
    for (const auto add : commands) add(program.root());
  }
  if (argc > 1 && std::string_view(argv[1]) == "complete") {  // asked by deploy/completions
    const std::vector<std::string> words(argv + 2, argv + argc);
    fmt::print("{}", completions(program.root().help(), words));
    return Exit::done;
  }
  return program.run(argc, argv);
}

// A reader that has what it wanted, such as `head`, is no failure worth a sentence: files that were
// not finished are gone by now, and the status is that of any other program whose reader leaves.
Exit explain(const std::system_error& error) {
  if (error.code() == std::errc::broken_pipe) return Exit::reader_gone;
  tell("conclave: {}\n", error.what());
  return Exit::failed;
}

// One line, but for a mistake in a network of reactions, below which its line is shown, and a caret
// below the place.
void report_mistake(std::string_view text) {
  const std::size_t mark = text.rfind('\n');
  const std::size_t line = mark == text.npos || mark == 0 ? text.npos : text.rfind('\n', mark - 1);
  const bool is_marked = line != text.npos &&
                         text.find_first_not_of(' ', mark + 1) + 1 == text.size() &&
                         text.ends_with('^');
  if (!is_marked) return tell("conclave: {}\n", text);
  tell("conclave: {}\n", text.substr(0, line));
  tell("{}\n", text.substr(line + 1, mark - line - 1));
  tell("{}\n", text.substr(mark + 1));
}

Exit run_and_explain(int argc, char** argv) {
  try {
    const Exit status = run_command(argc, argv);
    errno = 0;
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
    if (errno == 0) errno = EIO;  // an earlier write has failed, and its reason is gone
    return explain(
        std::system_error(errno, std::generic_category(), "cannot write standard output"));
  } catch (const Error& error) {
    report_mistake(error.what());
    return Exit::misused;
  } catch (const std::bad_alloc&) {
    tell("conclave: out of memory\n");
  } catch (const std::system_error& error) {
    return explain(error);
  } catch (const std::exception& error) {
    tell("conclave: {}\n", error.what());
  }
  return Exit::failed;
}

}  // namespace
}  // namespace conclave::cli

int main(int argc, char** argv) {
  conclave::cli::prepare_streams();
  conclave::cli::exit_when_interrupted();
  return static_cast<int>(conclave::cli::run_and_explain(argc, argv));
}
