// Completions for shells from the help of commands: commands, options, and the values of options
// whose meaning begins with a list of them ("table, csv or json (default table)").
#pragma once

#include <string>
#include <vector>

#include "conclave/cli/command.hpp"

namespace conclave::cli {

// Scripts that the shells load by themselves where a package puts them. `protocols` are what
// completes PROTOCOL, beside files.
std::string bash_completion(const CommandHelp& program, const std::vector<std::string>& protocols);
std::string zsh_completion(const CommandHelp& program, const std::vector<std::string>& protocols);
std::string fish_completion(const CommandHelp& program, const std::vector<std::string>& protocols);

}  // namespace conclave::cli
