// A run in the words a user writes: on the command line, in a plan, in a stored result. `run`,
// `sweep` and `replay` all come this way, so that equal words give equal rows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "conclave/catalog/catalog.hpp"

namespace conclave::experiment {

struct RunWords {
  std::string protocol{};  // a name of the catalog, or the path of a text
  std::string n{};
  std::string seed = "1";
  std::vector<std::string> params{};  // NAME=VALUE
  std::string init{};
  std::string engine{};
  std::string graph{};
  std::string max_parallel_time{};
  std::string max_interactions{};
  std::vector<std::string> faults{};
  std::string delay{};
  std::string wakeup{};
  std::string ids{};
  bool count_edges = false;

  friend bool operator==(const RunWords&, const RunWords&) = default;
};

// One word of a run: an option of the command line, without its dashes, and what it is given; a
// flag is given nothing.
struct RunWord {
  std::string_view option;
  std::string value{};
};

// All that are given beside the protocol, in the order of a command; parameters and faults one by
// one.
std::vector<RunWord> given_words(const RunWords& words);

// The command that the words were meant for, and a size that suits it: for an example, where the
// size is missing.
struct AskedBy {
  std::string_view command = "run";
  std::string_view n = "1e6";
};

// Throws Error with one sentence where the words make no sense. Traces are up to the caller.
catalog::RunRequest request_of(const RunWords& words, const AskedBy& asked_by = {});

}  // namespace conclave::experiment
