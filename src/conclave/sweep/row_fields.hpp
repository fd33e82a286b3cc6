// Rows of results as fields by name, and the words of runs as JSON.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conclave/experiment/run_text.hpp"
#include "conclave/sweep/plan.hpp"

namespace conclave::sweep {

// The members of a JSON object in their order; those of nested objects and lists have their path as
// a name: params.N, observables.frozen, faults.0.agents. Numbers keep every digit; null is empty.
using Fields = std::vector<std::pair<std::string, std::string>>;

// A row has so many at most, observables included: time and memory grow with their number.
inline constexpr std::ptrdiff_t most_fields = 100'000;

// Throws std::runtime_error if the text may have more. Linear in its length.
void check_field_count(std::string_view json);

// Throws std::runtime_error if the text is no JSON object, nests deeper than 64 levels, or may have
// more fields than that.
Fields fields_of(std::string_view json);

// The value of a field, or nothing.
std::optional<std::string> field(const Fields& fields, std::string_view name);
// Nothing also where the value is no number.
std::optional<double> number_field(const Fields& fields, std::string_view name);

// One line of JSON that reads back as the same words.
std::string json_of(const experiment::RunText& words);
std::string json_of(const Sampling& sampling);

// Both throw std::runtime_error if the text is no JSON object, or a member has another type.
experiment::RunText words_of(std::string_view text);
Sampling sampling_of(std::string_view text);

}  // namespace conclave::sweep
