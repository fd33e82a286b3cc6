// A run as the user writes it: every option is still text, as it stood on the command line, in a
// plan or in a stored result. `run`, `rare`, `sweep` and `replay` all start from this text, so that
// equal texts give equal rows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "conclave/catalog/catalog.hpp"
#include "conclave/catalog/rare_request.hpp"

namespace conclave::experiment {

struct RunText {
  std::string protocol{};  // a name of the catalog, or the path of a text
  std::string n{};
  std::string seed = "1";
  std::vector<std::string> params{};  // NAME=VALUE
  std::string init{};
  std::string engine{};
  std::string graph{};
  std::string max_parallel_time{};
  std::string max_interactions{};
  std::string until{};  // a parallel time, or "convergence," and one
  std::vector<std::string> faults{};
  std::string delay{};
  std::string wakeup{};
  std::string ids{};
  bool count_edges = false;
  // These belong to estimates of rare failures (conclave/rare).
  std::string kind{};  // "rare"; empty: trials
  std::string way{};
  std::vector<std::string> importance{};
  std::string particles{};
  std::string most_levels{};

  friend bool operator==(const RunText&, const RunText&) = default;
};

// One option of the command line, without its dashes, and its value; a flag has no value.
struct RunOption {
  std::string_view option;
  std::string value{};
};

// The options of a run that have a value, in the order in which a command shows them. Each
// parameter, fault and importance function is an option of its own; `kind` is none. The views refer
// to literals.
std::vector<RunOption> given_options(const RunText& words);

// The command and the population size that an error message shows as an example where --n is
// missing.
struct UsageExample {
  std::string_view command = "run";
  std::string_view n = "1e6";
};

// The run that the text describes; a graph that it names is built or read here. Leaves the plan's
// trace empty. Throws Error with one sentence if an option is missing, cannot be read or
// contradicts another.
catalog::RunRequest request_of(const RunText& words, const UsageExample& usage = {});
// The same for the entry of a protocol that need not be listed or lie in a file.
catalog::RunRequest request_of(const catalog::Entry& entry, const RunText& words,
                               const UsageExample& usage = {});

// The estimate of rare failures that the text describes, with defaults for what it does not say.
// Throws Error if an option cannot be read.
catalog::RareRequest rare_request_of(const RunText& words);

// The grid of all multiples of a parallel time, given as text, in a population of n: no finer than
// interactions. Throws Error.
TraceGrid grid_of(const std::string& every, Interactions n);

}  // namespace conclave::experiment
