// A run as the user writes it: every option is still text, as on the command line, in a plan or in
// a stored result. `run`, `rare`, `sweep` and `replay` all begin with this text, so that equal
// texts give equal rows. run_options.hpp says of each member what it is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "conclave/catalog/catalog.hpp"
#include "conclave/catalog/rare_request.hpp"

namespace conclave::experiment {

struct RunText {
  std::string protocol{};  // a name of the catalog, or the path of a protocol file
  std::string n{};
  std::string seed = "1";
  std::vector<std::string> params{};  // NAME=VALUE
  std::string init{};
  std::string engine{};
  std::string graph{};
  std::string placement{};  // of agents on it
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

// The command and the population size that an error message shows as an example where --n is
// missing.
struct UsageExample {
  std::string_view command = "run";
  std::string_view n = "1e6";
};

// The run that the words describe, of the protocol of this entry; a graph that they name is built
// or read here. Leaves the plan's trace empty. Throws Error with one sentence if an option is
// missing, cannot be read or contradicts another.
catalog::RunRequest request_of(const catalog::Entry& entry, const RunText& words,
                               const UsageExample& usage = {});

// The estimate of rare failures that the words describe, with defaults for what they do not say.
// Throws Error if an option cannot be read.
catalog::RareRequest rare_request_of(const catalog::Entry& entry, const RunText& words);

}  // namespace conclave::experiment
