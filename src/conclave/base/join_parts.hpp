// Lists as one text. fmt::join would compile its formatting of ranges in every module that uses it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace conclave {

// The parts with the separator between them; numbers are written as fmt writes them by "{}".
std::string join_parts(std::span<const std::string> parts, std::string_view separator);
std::string join_parts(std::span<const std::string_view> parts, std::string_view separator);
std::string join_parts(std::span<const std::uint32_t> parts, std::string_view separator);
std::string join_parts(std::span<const std::uint64_t> parts, std::string_view separator);
std::string join_parts(std::span<const double> parts, std::string_view separator);

}  // namespace conclave
