// Estimates of rare failures in a report: ln of the expected time, or of the probability of an
// attempt, over n.
#pragma once

#include <vector>

#include "conclave/report/sample.hpp"
#include "conclave/report/study.hpp"
#include "conclave/sweep/rare_cells.hpp"

namespace conclave::report {

inline bool is_rare(const RunSample& run) { return sweep::is_rare(run.cells.front().cell); }

// One part for each way to fail that any cell of the run has, and one for all ways where there are
// several; each with its table and, where there is an x axis, its figure. `estimates` are those of
// the whole file; cells without one have no repetition yet.
std::vector<Part> rare_parts(const RunSample& run, const RunNames& names,
                             const std::vector<sweep::CellEstimate>& estimates);

}  // namespace conclave::report
