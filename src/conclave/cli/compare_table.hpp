// `conclave compare --table`: the rows of a paper's table, promised and measured.
#pragma once

#include <string>

#include "conclave/cli/command.hpp"

namespace conclave::cli {

// The options as they stood on the command line; empty ones were not given.
struct TableOptions {
  std::string table;
  std::string n;  // sizes, separated by commas
  std::string trials;
  std::string seed;
  std::string init;
  std::string max_parallel_time;
  std::string delay;
  std::string wakeup;
  std::string format;
};

// Prints the table on standard output. Throws Error for options that cannot be read.
Exit compare_table(const TableOptions& options);

}  // namespace conclave::cli
