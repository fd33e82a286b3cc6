// The values of options, read from the user's text. All functions throw Error with one sentence if
// the text is malformed; `option` is the name that the sentence gives to the value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conclave/base/interactions.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/model/fault.hpp"
#include "conclave/model/trace.hpp"

namespace conclave::experiment {

// No option has a meaning for an empty text, which a script gives where a variable is not set.
void check_not_empty(std::string_view option, std::string_view text);
// A whole number, also written as 1e6 or 2^20.
Interactions count_option(std::string_view option, const std::string& text);
// The same, between `low` and `high`, both allowed.
std::uint64_t count_option_64(std::string_view option, const std::string& text, std::uint64_t low,
                              std::uint64_t high);
// A number that is not negative, correctly rounded to double.
double real_option(std::string_view option, const std::string& text);
// Bytes, up to 64 TiB: 4GiB, 512MiB or 1e9.
std::size_t size_option(std::string_view option, const std::string& text);
// Values with commas between them, at least one and none of them empty.
std::vector<std::string> list_option(std::string_view option, const std::string& text);
// Parameters, each given as NAME=VALUE.
std::vector<catalog::Setting> param_options(const std::vector<std::string>& texts);

// "corrupt:50%@200", "kill-leaders@convergence+10"; throws Error with one sentence.
Fault parse_fault(const std::string& text);

// "log", "log:1.5", "linear:0.5"; throws Error with one sentence.
TraceGrid parse_grid(const std::string& text);
// The grid of all multiples of a parallel time in a population of n: no finer than interactions.
// Throws Error.
TraceGrid grid_of(const std::string& every, Interactions n);

}  // namespace conclave::experiment
