// The schema of files of results, and the check that a file has it.
#pragma once

#include "conclave/sweep/detail/sqlite.hpp"

namespace conclave::sweep::detail {

// Makes the tables of the newest version in an empty file.
void create_schema(const Database& database);

// The version of the schema: 1, which has no checksums, or 2. Throws Error if the file is no file
// of results, of another version, or if something else stands in the place of a table.
int check_schema(const Database& database);

// From 1 to 2. Rows that are there already get no checksum: what happened to them before is
// unknown.
void upgrade_schema(const Database& database);

}  // namespace conclave::sweep::detail
