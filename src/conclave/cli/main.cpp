// The program: its commands, and exceptions turned into one sentence and a status.
#include <cerrno>
#include <cstdio>
#include <exception>
#include <new>
#include <string_view>
#include <system_error>

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
  conclave help run                          options and examples of a command
  conclave list                              what there is
  conclave describe pll                      paper, variables, parameters, errata
  conclave run pll --n 1e6 --trials 100      statistics of 100 elections
  conclave run pll --n 1e4 --trials 400 --seed 7 --format jsonl
  conclave sweep plan.toml -o results.db     a grid of runs, stopped and resumed at will
  conclave results results.db                what it has found so far
  conclave report results.db -o report.html  tables, fitted laws, figures, on one page
  conclave reproduce -o claims               the papers' claims, measured in minutes
  conclave verify prl --n 3                  lemmas and exact times, over all configurations
  conclave rare ppl --n 8 --param t_virus=3  holding times that no simulation reaches
  conclave explore kmpp-async --n 4          every schedule of four nodes
  conclave explorer                          watch and attack protocols in a browser
  conclave compare --n 1000                  message passing, promised and measured
  conclave cluster --n 100                   the same election between real processes
  conclave plot trace.csv -o trace.svg       a picture of a run with --trace
  conclave solve chain.tra --target done     hitting times of a Markov chain, certified
  conclave bench agents                      how fast, and how far from the machine's limit)";

Exit run_command(int argc, char** argv) {
  Program program("conclave: a laboratory for randomized leader election",
                  "conclave " + version_and_commit(), program_overview);
  for (const auto add :
       {add_demo,   add_list,    add_describe, add_run,       add_sweep,  add_results,
        add_replay, add_merge,   add_report,   add_reproduce, add_verify, add_search,
        add_rare,   add_explore, add_compare,  add_cluster,   add_node,   add_plot,
        add_solve,  add_bench,   add_explorer, add_generate}) {
    add(program.root());
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
