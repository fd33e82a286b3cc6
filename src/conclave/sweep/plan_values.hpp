// Reads the values of a plan's keys: single values, lists, ranges, expressions in n.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "conclave/base/toml.hpp"
#include "conclave/text/arithmetic.hpp"

namespace conclave::sweep {

// A mistake in a value, with its line in the plan; the message is a sentence without file and key.
class ValueError : public std::runtime_error {
 public:
  ValueError(std::uint32_t line, const std::string& sentence)
      : std::runtime_error(sentence), line_(line) {}
  std::uint32_t line() const { return line_; }

 private:
  std::uint32_t line_;
};

struct Value {
  std::string text;
  std::uint32_t line = 0;
};

// All alternatives: those of a list, those of a range { from, to, step or factor }, or the only
// one. A range has at most 10 000 values; with a factor they are whole numbers, rounded down.
// Throws ValueError.
std::vector<Value> alternatives(const toml::node& node);

// Lists as values: a string or a list of strings is one alternative, a list of lists has several.
std::vector<std::vector<Value>> list_alternatives(const toml::node& node);

// The only value; throws ValueError for lists and tables.
Value single(const toml::node& node);

enum class Rounding : std::uint8_t {
  down,      // to a whole number
  none,      // to a double
  fraction,  // not at all, 1/3; a root that is not exact to a double
};

// A number stays as it was written, an expression in the constants becomes its value, and a word
// that is neither is taken as it stands. Throws ValueError if an expression has no value.
std::string evaluated(const Value& value, const text::Constants& constants, Rounding rounding);

}  // namespace conclave::sweep
