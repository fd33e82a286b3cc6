// `conclave compare --table`: the rows of a paper's table, promised and measured.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "conclave/cli/command.hpp"

namespace conclave::cli {

inline constexpr std::array<std::string_view, 4> paper_table_formats{"table", "csv", "json",
                                                                     "plan"};

// The options as they stood on the command line; empty ones were not given.
struct TableOptions {
  std::string table;
  std::string n;  // sizes, separated by commas; empty: those of the table
  std::string trials;
  std::string seed;
  std::string init;
  std::string max_parallel_time;
  std::string delay;
  std::string wakeup;
  std::string format;
};

// Prints the table on standard output, in one of paper_table_formats: `plan` is the plan of a sweep
// that measures it. Throws Error for options that cannot be read.
Exit compare_table(const TableOptions& options);

}  // namespace conclave::cli
