// Checks for the programmer's own mistakes. They stay on in every build; a failed one prints the
// condition and its place, then aborts. Users' mistakes are conclave::Error instead.
#pragma once

namespace conclave::detail {
[[noreturn]] void check_failed(const char* condition, const char* file, int line);
}

#define CONCLAVE_CHECK(condition) \
  (static_cast<bool>(condition)   \
       ? static_cast<void>(0)     \
       : ::conclave::detail::check_failed(#condition, __FILE__, __LINE__))

// For checks that would change the complexity of the code they guard: debug builds only.
#ifdef NDEBUG
#define CONCLAVE_CHECK_SLOW(condition) static_cast<void>(0)
#else
#define CONCLAVE_CHECK_SLOW(condition) CONCLAVE_CHECK(condition)
#endif
