// Protocol files whose states fit into a byte.
#include "conclave/catalog/text_run.hpp"

namespace conclave::catalog {

std::unique_ptr<const PreparedRun> prepare_text_8(
    const RunRequest& request, const std::shared_ptr<const text::Compiled>& compiled) {
  return prepare_text<std::uint8_t>(request, compiled);
}

}  // namespace conclave::catalog
