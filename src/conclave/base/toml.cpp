#include "conclave/base/toml.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "conclave/base/error.hpp"

namespace conclave {
namespace {

constexpr std::size_t most_parts = 16;
constexpr std::size_t most_brackets = 32;

// How long the string is that the text begins with, its quotes included; to the end if it has none.
std::size_t string_length(std::string_view text) {
  const char quote = text.front();
  const std::string_view three = text.substr(0, 3);
  const bool is_long = three.size() == 3 && three[1] == quote && three[2] == quote;
  const std::size_t width = is_long ? 3 : 1;
  for (std::size_t i = width; i < text.size(); ++i) {
    if (text[i] == '\\' && quote == '"') {
      ++i;
    } else if (text[i] == '\n' && !is_long) {
      return i;
    } else if (text.substr(i, width) == text.substr(0, width)) {
      return i + width;
    }
  }
  return text.size();
}

// Calls look(token, line) with each string, each comment and each other character; ends where that
// returns true, with the line, or at the end, with 0.
template <class Look>
unsigned first_line(std::string_view text, Look look) {
  unsigned line = 1;
  while (!text.empty()) {
    const char c = text.front();
    std::size_t length = 1;
    if (c == '"' || c == '\'') length = string_length(text);
    if (c == '#') length = std::min(text.find('\n'), text.size());
    const std::string_view token = text.substr(0, length);
    if (look(token)) return line;
    line += static_cast<unsigned>(std::ranges::count(token, '\n'));
    text.remove_prefix(length);
  }
  return 0;
}

}  // namespace

unsigned line_of_deep_nesting(std::string_view text) {
  std::size_t dots = 0;  // since the last character that ends a key
  std::size_t brackets = 0;
  return first_line(text, [&](std::string_view token) {
    const char c = token.front();
    if (c == '.') ++dots;
    if (std::string_view("=,[]{}\n").find(c) != std::string_view::npos) dots = 0;
    if (c == '[' || c == '{') ++brackets;
    if ((c == ']' || c == '}') && brackets > 0) --brackets;
    return dots >= most_parts || brackets > most_brackets;
  });
}

toml::table parse_toml(const std::string& text, const std::string& path) {
  if (const unsigned line = line_of_deep_nesting(text))
    throw Error(fmt::format("{}:{}: keys or lists nest too deep here", path, line));
  try {
    return toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    throw Error(fmt::format("{}:{}: {}", path, error.source().begin.line, error.description()));
  } catch (const detail::TomlAssertion& error) {
    throw Error(fmt::format("{}: {}", path, error.what()));
  }
}

}  // namespace conclave
