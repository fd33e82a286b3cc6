// The one way in which TOML is read here: toml++ whose assertions are exceptions, after a look at
// the text that the library is not made for. The library asserts what its parser believes of a text
// (version 3.3: that a value follows wherever one is read), and not every text keeps to it; in an
// optimized build such a belief would be an assumption of the compiler, and so undefined behaviour.
// Debian's shared library is built that way, so it is not used: the headers are, with this one
// around them, and all that include TOML include this header.
#pragma once

#include <stdexcept>
#include <string>

namespace conclave::detail {

struct TomlAssertion : std::runtime_error {
  TomlAssertion() : std::runtime_error("this is not TOML") {}
};

[[noreturn]] inline void refuse_toml() { throw TomlAssertion(); }

}  // namespace conclave::detail

#pragma push_macro("NDEBUG")
#undef NDEBUG  // assertions instead of assumptions
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage,readability-identifier-naming)
#define TOML_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : ::conclave::detail::refuse_toml())
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

namespace conclave {

// Parses a text; `path` stands for it in messages. Throws Error with path and line where it is not
// TOML, nests too deep, or has keys without quotes that are not ASCII.
toml::table parse_toml(const std::string& text, const std::string& path);

}  // namespace conclave
