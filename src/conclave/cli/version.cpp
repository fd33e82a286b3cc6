#include "conclave/cli/version.hpp"

#include "conclave/cli/revision.hpp"  // written by cmake/revision.cmake

namespace conclave::cli {

std::string version() { return CONCLAVE_VERSION; }

std::string version_and_commit() {
  const std::string revision = CONCLAVE_REVISION;
  return revision.empty() ? version() : version() + " (commit " + revision + ")";
}

std::string code_version() {
  const std::string revision = CONCLAVE_REVISION;
  return revision.empty() ? version() : version() + '+' + revision;
}

}  // namespace conclave::cli
