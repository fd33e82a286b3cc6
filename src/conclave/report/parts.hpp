// The pieces that a study is put together from: fitted laws in words (fitting.cpp), figures
// (drawings.cpp), the table of a paper (promises.cpp), rare failures (rare_parts.cpp).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "conclave/report/sample.hpp"
#include "conclave/report/study.hpp"
#include "conclave/sweep/rare_cells.hpp"

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

// The values of a field, ascending; none is an empty span.
std::span<const double> numbers_of(const CellSample& sample, std::string_view field);

// The fraction of trials that had the value 1, 2, 3, ..., for each value that was seen.
std::vector<Mark> chances(std::span<const double> values);

// The means of the cells of one series over the x axis of the run.
Series measured_series(const RunSample& run, const RunNames& names, const std::string& series,
                       const std::string& field);

// All figures of a part; each name is only what tells it from the others of the part.
std::vector<Figure> draw_part(const RunSample& run, const RunNames& names, const Part& part);

// Several protocols in one figure.
Figure draw_together(const std::string& title, std::vector<Series> series);

// The table whose plan has this name, with what the sections, one for each row that was run and in
// the order of the rows, say about it; nothing for any other plan. Notes in each section which row
// it is about.
std::optional<PromiseTable> promises_of(const std::string& plan_name,
                                        std::vector<Section>& sections);

// Whether the cells of a run are repetitions of rare failures instead of trials.
inline bool is_rare(const RunSample& run) { return sweep::is_rare(run.cells.front().cell); }

// One part for each way to fail that any cell of the run has, and one for all ways where there are
// several; each with its table and, where there is an x axis, its figure. `estimates` are those of
// the whole file; cells without one have no repetition yet.
std::vector<Part> rare_parts(const RunSample& run, const RunNames& names,
                             const std::vector<sweep::CellEstimate>& estimates);

}  // namespace conclave::report
