// From a file's content to syntax: what is written, before any name is looked up.
// docs/own-protocols.md describes the language.
#pragma once

#include <string_view>

#include "conclave/text/syntax.hpp"

namespace conclave::text {

enum class Dialect : std::uint8_t {
  protocol,   // .pp: states or fields are declared
  network,    // .crn: species and reactions with rates
  rule_list,  // .rules: states are those the rules name; rules may be written `a, b -> c, d : 1/2`
};

// The syntax of one file, whose number stands in all places; imports are not followed. The document
// owns all it holds, so `text` may go away. Throws Mistake with what was expected and what was
// found, at the first error. O(size).
Document parse(std::string_view text, Dialect dialect, std::uint32_t file = 0);

}  // namespace conclave::text
