// The values of options in words a user writes, with one clear sentence (an Error) where they are
// malformed. `option` is what the sentence calls them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conclave/base/interactions.hpp"
#include "conclave/catalog/catalog.hpp"

namespace conclave::experiment {

Interactions count_option(std::string_view option, const std::string& text);
std::uint64_t count_option_64(std::string_view option, const std::string& text, std::uint64_t low,
                              std::uint64_t high);
double real_option(std::string_view option, const std::string& text);
std::vector<catalog::Setting> param_options(const std::vector<std::string>& texts);

}  // namespace conclave::experiment
