// The schema of files of results, and the check that a file has it.
#pragma once

#include <string>

#include "conclave/sweep/detail/sqlite.hpp"

namespace conclave::sweep {

void create_schema(const Database& database);

// Throws Error where the file is not a store of this schema.
void check_schema(const Database& database);

}  // namespace conclave::sweep
