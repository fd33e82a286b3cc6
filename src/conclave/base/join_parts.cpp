#include "conclave/base/join_parts.hpp"

#include <concepts>
#include <cstddef>

#include <fmt/format.h>

namespace conclave {
namespace {

void append(std::string& text, std::string_view part) { text += part; }
void append(std::string& text, double part) { text += fmt::format("{}", part); }
void append(std::string& text, std::unsigned_integral auto part) {
  const fmt::format_int digits(part);
  text.append(digits.data(), digits.size());
}

template <class Part>
std::string joined(std::span<const Part> parts, std::string_view separator) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += separator;
    append(text, parts[i]);
  }
  return text;
}

}  // namespace

std::string join_parts(std::span<const std::string> parts, std::string_view separator) {
  return joined(parts, separator);
}

std::string join_parts(std::span<const std::string_view> parts, std::string_view separator) {
  return joined(parts, separator);
}

std::string join_parts(std::span<const std::uint32_t> parts, std::string_view separator) {
  return joined(parts, separator);
}

std::string join_parts(std::span<const std::uint64_t> parts, std::string_view separator) {
  return joined(parts, separator);
}

std::string join_parts(std::span<const double> parts, std::string_view separator) {
  return joined(parts, separator);
}

std::vector<std::string_view> split_parts(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t end = text.find(separator); end != text.npos; end = text.find(separator)) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

}  // namespace conclave
