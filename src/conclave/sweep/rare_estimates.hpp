// The estimates of rare failures that the rows of a file of results give.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "conclave/experiment/rare_row.hpp"
#include "conclave/sweep/export.hpp"
#include "conclave/sweep/results.hpp"

namespace conclave::sweep {

inline bool is_rare(const StoredCell& cell) { return cell.words.kind == "rare"; }

struct CellEstimate {
  std::size_t cell = 0;
  experiment::RareRow row;
};

// One for each cell of kind "rare" that has a repetition which the filter accepts, from the
// repetitions before the first missing one: what `conclave rare` says of as many. Throws Error at
// the first damaged row.
std::vector<CellEstimate> estimates_of(const Results& results, const Filter& filter);

// The rows that `conclave rare` prints in format jsonl, csv or json, for all of them. Throws Error
// if there are none, and if a CSV would need two headers.
std::string estimates_text(const std::vector<CellEstimate>& estimates, const std::string& format);

}  // namespace conclave::sweep
