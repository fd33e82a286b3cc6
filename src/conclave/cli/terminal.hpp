// What the command line shares: text on the terminal, numbers from options, the interrupt key.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conclave/base/interactions.hpp"
#include "conclave/catalog/catalog.hpp"

namespace conclave::cli {

bool error_is_terminal();

// The options' values, with one clear sentence (an Error) where they are malformed.
Interactions count_option(std::string_view option, const std::string& text);
std::uint64_t count_option_64(std::string_view option, const std::string& text, std::uint64_t low,
                              std::uint64_t high);
double real_option(std::string_view option, const std::string& text);
std::vector<catalog::Setting> settings_option(const std::vector<std::string>& params);  // --param

// Breaks text at spaces so that no line is longer than `width`; lines after the first are indented.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent);

// Becomes true at the first SIGINT or SIGTERM; a second one ends the process at once.
const std::atomic<bool>& interrupted_flag();

}  // namespace conclave::cli
