// A paper's table beside the results of the sweep that measures it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "conclave/report/study.hpp"

namespace conclave::report {

// The table whose plan has this name, with what the sections, one for each row that was run and in
// the order of the rows, say about it; nothing for any other plan. Notes in each section which row
// it is about.
std::optional<PromiseTable> promises_of(const std::string& plan_name,
                                        std::vector<Section>& sections);

}  // namespace conclave::report
