// Reads a file of results into samples: the variables, the trials and the numbers of each cell.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "conclave/report/laws.hpp"
#include "conclave/sweep/results.hpp"
#include "conclave/sweep/schedule.hpp"

namespace conclave::report {

// Trials are those before the first missing one, so that an unfinished sweep does not prefer short
// trials.
struct CellSample {
  sweep::StoredCell cell;
  sweep::CellProgress progress{};
  Variables variables;                           // n and the parameters that are numbers
  std::map<std::string, std::string> written{};  // parameters that the plan has as expressions
  std::uint64_t trials = 0;
  std::uint64_t converged = 0;
  bool by_messages = false;
  // Numbers of converged trials by field, ascending.
  std::map<std::string, std::vector<double>, std::less<>> values{};
};

// The cells of one [[run]] of a plan, and of those after it that differ from it in n and trials
// only.
struct RunSample {
  std::size_t run = 0;
  std::string protocol;
  std::vector<CellSample> cells{};
};

// Reads all rows twice, and keeps the numbers of converged trials in memory. Only rows that satisfy
// all conditions count ("epoch_at_convergence=2"), and only cells that have such rows. Throws Error
// if the file is damaged or a condition makes no sense.
std::vector<RunSample> read_samples(const sweep::Results& results,
                                    const std::vector<std::string>& where = {});

// The same cells with only the rows that satisfy all conditions; those without such rows are left
// out. Reads the rows of the run once more.
RunSample restricted(const RunSample& run, const sweep::Results& results,
                     const std::vector<std::string>& where);

// The values that a field has in the rows of a run, numbers in their order, then words. Throws
// Error if there are more than a dozen: these are no cases.
std::vector<std::string> cases_of(const RunSample& run, const sweep::Results& results,
                                  const std::string& field);

// How the cells of a run differ: `series` says it without the variable on the x axis ("init=random
// N=4n"), `kind` only what no law can account for, words and parameters that are in no law of the
// protocol ("init=random"), `label` everything. A parameter that follows from n, or stays a
// multiple of it, is written so.
struct CellName {
  std::string series;
  std::string kind;
  std::string label;
};
struct RunNames {
  std::string x;  // the variable on the x axis: that of the protocol's figures (x_axis_of), n, or
                  // the parameter with most values; "" if none
  std::string setting{};      // what all cells have in common: "n=64", "r=n/4"
  std::string expressions{};  // of it, those of the plan: "T=4*ceil(lg(n))"
  std::vector<CellName> cells{};
};
RunNames name_cells(const RunSample& run);

// A word quoted for a shell, with single quotes only if they are needed.
std::string quoted_for_shell(const std::string& word);

// `conclave run ...` or `conclave rare ...`, which repeats the trials of a cell.
std::string command_of(const experiment::RunText& words, std::uint64_t trials);

// The first trial of a cell as a view of the explorer, "run/prl?n=50&seed=7": the part of its
// address after '#', with everything escaped that has a meaning in addresses. Empty for protocol
// texts, which are files of their own.
std::string view_of(const experiment::RunText& words);

}  // namespace conclave::report
