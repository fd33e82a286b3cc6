// `conclave cluster repair`, which is apart from the other cluster commands: it needs no election.
#pragma once

#include <string>

#include "conclave/cli/command.hpp"

namespace conclave::cli {

// Tells what the promise file of the member with this configuration holds. With a term (empty:
// none) writes a file that allows no promise up to that term. Throws Error where the file is
// damaged and no term is given, or where the member runs.
Exit repair_member(const std::string& config_file, const std::string& term);

}  // namespace conclave::cli
