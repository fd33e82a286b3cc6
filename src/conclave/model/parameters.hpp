// A protocol's Parameters struct lists its members as `fields`; the command line, the rows and
// `describe` read that list.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <tuple>

namespace conclave {

// A whole-number parameter is a std::optional<std::uint64_t>: empty means "derived from n or from
// the other parameters", and a row shows it only if it holds a value; a decimal one is a
// std::optional<double>. An enumeration parameter has its names in `names_of<E>`; a row shows it
// only if it is not the default.
template <class Owner, class T>
struct Parameter {
  std::string_view name;
  T Owner::*member;
  std::string_view meaning;
  std::string_view fallback;  // the default, in words
  std::uint64_t low = 0;      // allowed range of a number
  std::uint64_t high = 0;
};
template <class Owner, class T>
Parameter(const char*, T Owner::*, const char*, const char*) -> Parameter<Owner, T>;
template <class Owner, class T>
Parameter(const char*, T Owner::*, const char*, const char*, std::uint64_t, std::uint64_t)
    -> Parameter<Owner, T>;

template <class E>
inline constexpr std::array<std::string_view, 0> names_of{};

struct NoParameters {
  static constexpr std::tuple<> fields{};
};

}  // namespace conclave
