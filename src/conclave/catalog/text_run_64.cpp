// Protocol files with too many states for a table: eight bytes hold the fields of an agent.
#include "conclave/catalog/text_run.hpp"

namespace conclave::catalog {

std::unique_ptr<const PreparedRun> prepare_text_64(
    const RunRequest& request, const std::shared_ptr<const text::Compiled>& compiled) {
  return prepare_text<std::uint64_t>(request, compiled);
}

}  // namespace conclave::catalog
