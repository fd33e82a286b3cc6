// Every message-passing protocol of the catalog on the same task: what its paper promises, and what
// was measured.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conclave/base/statistics.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/experiment/run_text.hpp"

namespace conclave::experiment {

struct ComparisonRow {
  std::string_view protocol;
  std::string_view network;  // asynchronous or synchronous
  Problem problem = Problem::election;
  std::string_view bound;  // of the paper
  bool needs_identifiers = false;
  std::string refusal{};  // why it was not run; empty: it was
  std::uint64_t trials = 0;
  std::uint64_t elected = 0;  // trials with exactly one leader, known to all it must be known to
  Summary messages_per_node{};
  Summary time{};  // units of time from the first wake-up to the last sending, or rounds
};

// Trials of every protocol that runs on the graph of the words, by default complete networks; their
// delay counts for asynchronous protocols only, and they name no protocol. Deterministic; sorted by
// model, then by name. Protocols that refuse this n say why. Stops early, with the rows so far,
// when `stop` becomes true. Throws Error for words that no protocol understands.
std::vector<ComparisonRow> compare(const RunText& words, std::uint64_t trials,
                                   const std::atomic<bool>& stop);

}  // namespace conclave::experiment
