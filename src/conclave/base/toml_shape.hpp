// Looks at a text before the TOML library parses it. Recognizes only strings and comments;
// everything else that is not TOML is left to the library to refuse. O(length).
#pragma once

#include <string_view>

namespace conclave {

// The line, from 1, in which the text nests too deep: more than 16 parts of a dotted key, as in
// a.b.c, or more than 32 open brackets; 0 where it does so nowhere. The library recurses once per
// level, so a text of a few kilobytes could exhaust the stack.
unsigned line_of_deep_nesting(std::string_view text);

}  // namespace conclave
