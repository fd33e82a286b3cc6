// Which laws the cells of a run follow, and what that says in words.
#pragma once

#include <string>
#include <vector>

#include "conclave/report/study.hpp"

namespace conclave::report {

// One entry per kind, in the order of the cells; kinds with fewer than three sizes have no fits.
std::vector<KindFits> fit_kinds(const RunSample& run, const RunNames& names, const Measure& measure,
                                const std::vector<CellLine>& lines);

// The best law of each kind, the one promised, how sure that is, and over which range; a line each.
std::string growth_verdict(const RunSample& run, const RunNames& names, const Part& part);

}  // namespace conclave::report
