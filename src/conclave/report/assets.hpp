// Files that the build puts into the program: the looks and the script of the page, uPlot, and the
// plans of experiments/quick (plan_) and experiments/ (full_).
#pragma once

#include <string_view>

namespace conclave::report {

extern const std::string_view page_css;
extern const std::string_view page_js;
extern const std::string_view uplot_css;
extern const std::string_view uplot_js;

extern const std::string_view plan_comparison;
extern const std::string_view plan_electleader;
extern const std::string_view plan_kmpp;
extern const std::string_view plan_pll;
extern const std::string_view plan_ppl;
extern const std::string_view plan_prl;

extern const std::string_view full_comparison;
extern const std::string_view full_electleader;
extern const std::string_view full_kmpp;
extern const std::string_view full_pll;
extern const std::string_view full_ppl;
extern const std::string_view full_prl;

}  // namespace conclave::report
