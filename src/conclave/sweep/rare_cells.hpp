// Estimates of rare failures in sweeps: a cell whose trials are repetitions, prepared to be run,
// and the estimates that the stored rows of such cells give.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "conclave/catalog/rare_request.hpp"
#include "conclave/experiment/run_text.hpp"
#include "conclave/rare/prepared.hpp"
#include "conclave/rare/result.hpp"
#include "conclave/sweep/plan.hpp"
#include "conclave/sweep/results.hpp"
#include "conclave/sweep/selection.hpp"

namespace conclave::sweep {

// Several threads may run repetitions of one cell at once. Pilots choose the levels of its
// functions before the first repetition; they depend on the words alone, so that every process has
// the same levels.
class RareCell {
 public:
  // Throws Error if the words make no sense.
  RareCell(const experiment::RunText& words, const KeptTexts& texts);

  const std::string& head() const { return head_; }

  struct Repetition {
    std::string row;
    double interactions = 0;  // simulated, for display only
  };
  // Throws Interrupted, and Error if a pilot finds that a function does not serve.
  Repetition run(std::uint64_t repetition, const KeepComputing& keep_computing);

 private:
  struct Pilot {
    std::mutex mutex;
    bool is_done = false;
  };

  void choose_levels(const KeepComputing& keep_computing);
  void choose_levels_of(std::size_t function, const KeepComputing& keep_computing);

  std::unique_ptr<rare::Prepared> rare_;
  std::string head_;
  std::vector<Pilot> pilots_;  // by function
};

inline bool is_rare(const StoredCell& cell) { return cell.words.kind == "rare"; }

// Throws std::runtime_error if the row is no repetition of the cell's estimate.
void check_repetition(const StoredCell& cell, const std::string& row);

struct CellEstimate {
  std::size_t cell = 0;
  rare::Row row;
};

// One for each cell of kind "rare" that has a repetition which the filter accepts, from the
// repetitions before the first missing one: what `conclave rare` says of as many. Throws Error at
// the first damaged row.
std::vector<CellEstimate> estimates_of(const Results& results, const Filter& filter);

// The rows that `conclave rare` prints in format jsonl, csv or json, for all of them. Throws Error
// if there are none, and if a CSV would need two headers.
std::string estimates_text(const std::vector<CellEstimate>& estimates, const std::string& format);

}  // namespace conclave::sweep
