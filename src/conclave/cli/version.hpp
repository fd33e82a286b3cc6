// Which conclave this is.
#pragma once

#include <string>

namespace conclave::cli {

// "0.2.0".
std::string version();

// "0.2.0 (commit a1b2c3d4)", for people; without the commit where it is not known.
std::string version_and_commit();

// "0.2.0+a1b2c3d4", with the commit it was built from, and "-dirty" if there were uncommitted
// changes; for rows that must be reproducible bit by bit.
std::string code_version();

}  // namespace conclave::cli
