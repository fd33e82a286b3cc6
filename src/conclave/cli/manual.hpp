// Manual pages from the help of commands.
#pragma once

#include <string>

#include "conclave/cli/command.hpp"

namespace conclave::cli {

// A page in roff, section 1. `name` is that of the page: conclave, conclave-run,
// conclave-cluster-init. The same bytes for the same version of the program.
std::string manual_page(const CommandHelp& command, const std::string& name,
                        const std::string& version);

}  // namespace conclave::cli
