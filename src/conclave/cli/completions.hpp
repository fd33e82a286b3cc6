// Completions for shells from the help of commands: commands, options, and the values of options
// whose meaning begins with a list of them ("table, csv or json (default table)"), or that the
// protocol on the line names. All of it is in the scripts: a shell runs no program to complete.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "conclave/cli/command.hpp"

namespace conclave::cli {

// A protocol, and the values that it names for options: its starts are those of "--init".
struct ProtocolValues {
  std::string protocol;
  std::map<std::string, std::vector<std::string>> by_option{};
};
using Protocols = std::vector<ProtocolValues>;

// Scripts that the shells load by themselves where a package puts them. The protocols complete
// PROTOCOL, beside files; in commands without that word, an option has the values of all of them.
std::string bash_completion(const CommandHelp& program, const Protocols& protocols);
std::string zsh_completion(const CommandHelp& program, const Protocols& protocols);
std::string fish_completion(const CommandHelp& program, const Protocols& protocols);

}  // namespace conclave::cli
