#include "conclave/base/printable.hpp"

#include <cstdint>

#include <fmt/format.h>

namespace conclave {
namespace {

struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  // 0: the text does not begin with UTF-8
};

Character first_character(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (at(0) < 0x80) return {at(0), 1};
  const std::size_t bytes = at(0) >= 0xf0 ? 4 : (at(0) >= 0xe0 ? 3 : 2);
  if (at(0) < 0xc2 || at(0) > 0xf4 || text.size() < bytes) return {};
  std::uint32_t code = at(0) & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((at(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (at(i) & 0x3fu);
  }
  const bool is_too_long = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  const bool is_surrogate = code >= 0xd800 && code < 0xe000;
  if (is_too_long || is_surrogate || code > 0x10ffff) return {};
  return {code, bytes};
}

bool turns_direction(std::uint32_t code) {
  return code == 0x061c || code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

bool is_control(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029;
}

std::string escape(std::uint32_t code) {
  if (code == '\n') return "\\n";
  if (code == '\t') return "\\t";
  return code < 0x100 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
}

bool is_hidden(std::uint32_t code) { return is_control(code) || turns_direction(code); }

// take(its bytes, the character); a byte that is no UTF-8 comes alone.
template <class Take>
void for_each_character(std::string_view text, Take take) {
  while (!text.empty()) {
    const Character character = first_character(text);
    const std::size_t bytes = character.bytes == 0 ? 1 : character.bytes;
    take(text.substr(0, bytes), character);
    text.remove_prefix(bytes);
  }
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  for_each_character(text, [&](std::string_view bytes, const Character& character) {
    if (character.bytes == 0)
      result += escape(static_cast<unsigned char>(bytes.front()));
    else if (is_hidden(character.code))
      result += escape(character.code);
    else
      result += bytes;
  });
  return result;
}

bool is_printable(std::string_view text) {
  bool result = true;
  for_each_character(text, [&](std::string_view, const Character& character) {
    result = result && character.bytes > 0 && !is_hidden(character.code);
  });
  return result;
}

std::string printable_json(std::string_view json) {
  std::string result;
  for_each_character(json, [&](std::string_view bytes, const Character& character) {
    const bool is_shown = character.bytes == 0 || !is_hidden(character.code);
    result += is_shown ? std::string(bytes) : fmt::format("\\u{:04x}", character.code);
  });
  return result;
}

std::string excerpt(std::string_view text, std::size_t most) {
  if (text.size() <= most) return printable(text);
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return printable(text.substr(0, end == 0 ? most : end)) + "...";
}

}  // namespace conclave
