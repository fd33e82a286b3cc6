// Text that came from a file or from the command line, made safe to show: a terminal obeys escape
// sequences, and so would the reader of a log that is full of them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace conclave {

// The same text with every control character written as \n, \t or \x1b, every byte that is no UTF-8
// as \xff, and every character that changes the direction of writing as \u202e. Printable text is
// unchanged, so the function is idempotent.
std::string printable(std::string_view text);

// Whether printable() would leave the text as it is.
bool is_printable(std::string_view text);

// The same for a JSON text, which stays the same JSON: control characters become \u009b. Bytes that
// are no UTF-8 stay.
std::string printable_json(std::string_view json);

// The beginning of a text, printable, for a message that quotes it: at most `most` bytes of the
// text, then "..." where something was left out.
std::string excerpt(std::string_view text, std::size_t most = 80);

}  // namespace conclave
