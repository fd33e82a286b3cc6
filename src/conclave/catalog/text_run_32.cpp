// Protocol texts whose states fit into four bytes.
#include "conclave/catalog/text_run.hpp"

namespace conclave::catalog {

std::unique_ptr<const PreparedRun> prepare_text_32(const RunRequest& request,
                                                   std::shared_ptr<const text::Compiled> compiled) {
  return prepare_text<std::uint32_t>(request, std::move(compiled));
}

}  // namespace conclave::catalog
