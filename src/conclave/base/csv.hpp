// Comma-separated values (RFC 4180), as far as our files need them: no line breaks inside a field.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace conclave {

// A spreadsheet computes a text that begins with =, +, -, @ or a tab and is no number.
enum class Formulas : std::uint8_t {
  kept,
  quoted,  // with a ' before it
};

// A field, in quotation marks only where necessary.
std::string csv_field(std::string text, Formulas formulas = Formulas::kept);

// Takes the first line off the text, without its end, and splits it. A quoted field may hold
// commas, and quotes that are doubled.
std::vector<std::string> take_csv_line(std::string_view& text);

}  // namespace conclave
