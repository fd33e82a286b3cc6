// Where something stands in a protocol file, and what is wrong with it.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace conclave::text {

// Line and column are counted from 1, the files of a protocol from 0.
struct Place {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
  std::uint32_t file = 0;
};

// A mistake of the user with its place; turned into an Error where the name of the file is known.
class Mistake : public std::runtime_error {
 public:
  // The sentence does not name the place.
  Mistake(Place place, const std::string& sentence) : std::runtime_error(sentence), place_(place) {}
  Place place() const { return place_; }

 private:
  Place place_;
};

// An expression that can be read and has no value: it divides by zero, or takes the logarithm of a
// negative number.
class NoValue : public Mistake {
 public:
  using Mistake::Mistake;
};

}  // namespace conclave::text
