// The characters that names of columns and fields are made of. Unlike those of <cctype>, these
// functions do not depend on the locale.
#pragma once

namespace conclave {

// An ASCII letter, or the underscore.
constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace conclave
