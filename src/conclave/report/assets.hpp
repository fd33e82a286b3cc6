// Files that the build puts into the program: the looks and the script of the page, and uPlot.
#pragma once

#include <string_view>

namespace conclave::report {

extern const std::string_view page_css;
extern const std::string_view page_js;
extern const std::string_view uplot_css;
extern const std::string_view uplot_js;

}  // namespace conclave::report
