// The words that a shell may offer next on a command line. The scripts in deploy/completions ask
// for them by `conclave complete WORD...`, so that all shells offer the same.
#pragma once

#include <span>
#include <string>

#include "conclave/cli/command.hpp"

namespace conclave::cli {

// The lines that begin with the last of `words`, which is being typed and may be empty: a word, a
// tab, what it means. The words before it are those after the program's name. A line ":files"
// stands for the names of files. Options whose values the protocol on the line names, such as
// --init, have the values of the catalog; no file is read. Never throws for words that make no
// sense: nothing is offered then.
std::string completions(const CommandHelp& program, std::span<const std::string> words);

}  // namespace conclave::cli
