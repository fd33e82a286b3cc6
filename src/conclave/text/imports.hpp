// Joins a file with the files that it imports.
//
// `import "clock.pp"` brings the parameters, definitions, functions, fields and steps of another
// text, as if they stood before all others here; its rules become one step, called like the file.
// Starts, outputs, observables and conditions stay behind, so that a module can be run by itself.
// `import "clock.pp" as slow` puts slow_ before all its names, and calls the step of its rules
// slow; `with digit as hour` renames one. What was imported once under the same names is not
// imported again.
#pragma once

#include <string>
#include <vector>

#include "conclave/text/parser.hpp"
#include "conclave/text/sources.hpp"
#include "conclave/text/syntax.hpp"

namespace conclave::text {

// The document of the first of `files` with everything it imports. What is imported is added to
// `files`, whose numbers stand in the places of the syntax. Throws Mistake for what
// cannot be read or lies outside the folder, for cycles, for names that a module does not have, and
// for more than 64 files or 8 levels.
Document joined_with_imports(Dialect dialect, Sources& sources, std::vector<NamedText>& files);

}  // namespace conclave::text
