// toml++ whose assertions are exceptions. The library asserts what its parser believes of a text
// (version 3.3: that a value follows wherever one is read), and not every text keeps to it. In an
// optimized build such a belief would be an assumption of the compiler, and so undefined behaviour;
// with this header it is one more way in which a text is not TOML.
#pragma once

#include <stdexcept>

namespace conclave::election::detail {

struct TomlAssertion : std::runtime_error {
  TomlAssertion() : std::runtime_error("this is not TOML") {}
};

[[noreturn]] inline void refuse_toml() { throw TomlAssertion(); }

}  // namespace conclave::election::detail

#undef NDEBUG  // assertions instead of assumptions
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage,readability-identifier-naming)
#define TOML_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : ::conclave::election::detail::refuse_toml())
#include <toml++/toml.h>
