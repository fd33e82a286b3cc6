// The figures of a run: growth with fitted laws, what the laws leave, distributions.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "conclave/report/figure.hpp"
#include "conclave/report/sample.hpp"
#include "conclave/report/study.hpp"

namespace conclave::report {

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

}  // namespace conclave::report
