// The numbers of a figure as the page's script reads them, to draw it when a reader wants to zoom.
#pragma once

#include <string>

#include "conclave/plot/figure.hpp"

namespace conclave::report {

using plot::Axis;
using plot::Figure;
using plot::Mark;
using plot::Series;
using plot::short_number;
using plot::Style;

// One JSON object with axes and series; low and high stand beside y where there are intervals.
std::string json(const Figure& figure);

}  // namespace conclave::report
