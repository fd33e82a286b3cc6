// The catalog entry of a protocol text.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "conclave/catalog/catalog.hpp"
#include "conclave/text/compiled.hpp"

namespace conclave::catalog {

// Throws Error if the file cannot be read or makes no sense.
Entry text_entry(const std::string& path);

// The files that `find` reads for this name: of a text its own and those that it imports; none for
// a listed protocol, and for a text that is no plain file. Throws Error as `find` does.
std::vector<std::string> files_of(std::string_view protocol);

// One translation unit for each width of a state, because each instantiates all engines.
std::unique_ptr<const PreparedRun> prepare_text_8(
    const RunRequest& request, const std::shared_ptr<const text::Compiled>& compiled);
std::unique_ptr<const PreparedRun> prepare_text_16(
    const RunRequest& request, const std::shared_ptr<const text::Compiled>& compiled);
std::unique_ptr<const PreparedRun> prepare_text_64(
    const RunRequest& request, const std::shared_ptr<const text::Compiled>& compiled);

// The parameters in effect.
std::vector<ParameterValue> text_parameters(const text::Compiled& compiled);

}  // namespace conclave::catalog
