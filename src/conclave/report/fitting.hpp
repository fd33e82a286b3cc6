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

// One case of a mixture: the rows of a run in which a field has one value.
struct Case {
  std::string condition;  // "epoch_at_convergence=2"
  RunSample run;
  RunNames names{};  // those of the whole run
  Part part{};
};

// How often each case comes, which law its means follow, and how well the sum of these laws, each
// times its share, gives the means of all trials; a line for each kind.
std::string mixture_verdict(const RunSample& run, const RunNames& names, const Part& whole,
                            const std::vector<Case>& cases);

}  // namespace conclave::report
