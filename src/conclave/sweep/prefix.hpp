// The rows of an unfinished sweep that may be used for statistics. Short trials end first, so the
// rows that are there when a sweep is interrupted prefer them. The rows before the first trial that
// is missing do not: which ones they are depends on no trial's length once it is among them.
// Statistics use those alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "conclave/sweep/results.hpp"

namespace conclave::sweep {

using TakeJudgedRow =
    std::function<void(std::uint64_t trial, const std::string& row, bool is_in_prefix)>;

// All rows of a cell in the order of trials, each with whether no trial before it is missing.
void for_each_judged_row(const Results& results, std::size_t cell, const TakeJudgedRow& take);

// Hands over the rows of a cell up to the first trial that the file should have and has not, in the
// order of trials; a shard should have its own trials only.
void for_each_row_of_prefix(const Results& results, std::size_t cell, const Results::TakeRow& take);

// The number of trials that a cell of the file should have, and of those that are missing. With a
// precision that is decided by the rows, so `wanted` grows until it is reached.
struct CellProgress {
  std::uint64_t wanted = 0;
  std::uint64_t missing = 0;
};

// One entry per cell. Reads every row once.
std::vector<CellProgress> progress_of(const Results& results);

}  // namespace conclave::sweep
