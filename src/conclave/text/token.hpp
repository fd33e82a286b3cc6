// The tokens of a protocol text: names, numbers, strings and symbols, each with its place.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conclave/text/mistake.hpp"

namespace conclave::text {

enum class TokenKind : std::uint8_t {
  name,
  number,
  string,  // without its quotes
  symbol,
  end_of_statement,
  end_of_text,
};

struct Token {
  TokenKind kind;
  Place place;
  std::string_view text;
  bool touches_next = false;  // nothing between this token and the next one

  bool is(std::string_view symbol) const { return kind == TokenKind::symbol && text == symbol; }
  bool is_name(std::string_view name) const { return kind == TokenKind::name && text == name; }
};

// The name of a token in a message: "'->'", "the end of the line".
std::string described(const Token& token);

// A statement ends where a line begins at its first column, except with a brace that closes a
// block; indented lines go on with it. From '#' to the end of a line is a comment. The tokens look
// into `text`; throws Mistake.
// Places are in the file of that number.
std::vector<Token> tokens_of(std::string_view text, std::uint32_t file = 0);

}  // namespace conclave::text
