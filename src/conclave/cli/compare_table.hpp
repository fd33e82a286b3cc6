// `conclave compare --table`: the rows of a paper's table, promised and measured.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "conclave/cli/command.hpp"

namespace conclave::cli {

inline constexpr std::array<std::string_view, 4> paper_table_formats{"table", "csv", "json",
                                                                     "plan"};

// The options of `compare` as the user wrote them; empty ones were not given.
struct CompareOptions {
  std::string table{};
  experiment::RunText words{};  // with --table, n may be several sizes with commas between them
  std::string trials = "10";
  std::string format = "table";
};

// Prints the table on standard output, in one of paper_table_formats: `plan` is the plan of a sweep
// that measures it. Throws Error for options that cannot be read.
Exit compare_table(const CompareOptions& options);

}  // namespace conclave::cli
