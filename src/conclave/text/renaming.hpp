// Gives the names of an imported text other names.
#pragma once

#include "conclave/text/syntax.hpp"

namespace conclave::text {

// As the import says: single names by its renames, all others by its alias and an underscore.
// Throws Mistake for a name that the module does not have, and for a list of states with an alias,
// whose names rules use as they are.
void rename(Document& module, const ImportText& import);

}  // namespace conclave::text
