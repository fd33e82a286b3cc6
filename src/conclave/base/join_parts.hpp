// Lists as one text, and back. fmt::join would compile its formatting of ranges in every module
// that uses it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace conclave {

// The parts with the separator between them; numbers are written as fmt writes them by "{}".
std::string join_parts(std::span<const std::string> parts, std::string_view separator);
std::string join_parts(std::span<const std::string_view> parts, std::string_view separator);
std::string join_parts(std::span<const std::uint32_t> parts, std::string_view separator);
std::string join_parts(std::span<const std::uint64_t> parts, std::string_view separator);
std::string join_parts(std::span<const double> parts, std::string_view separator);

// The parts between the separators, which may be empty: one more than there are separators. They
// are views of the text.
std::vector<std::string_view> split_parts(std::string_view text, char separator);

}  // namespace conclave
