// The catalog entry of a protocol text that was kept, whatever has become of its file.
#pragma once

#include <string>
#include <string_view>

#include "conclave/catalog/catalog.hpp"

namespace conclave::catalog {

// `name` is that of the file, without folders. Throws Error where the content makes no sense.
Entry kept_text_entry(const std::string& name, std::string_view content);

}  // namespace conclave::catalog
