// A number of interactions. Hitting times of slow protocols on large populations pass 2^64, so the
// count has 128 bits, and every operation whose true result does not fit is a failed check.
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "conclave/base/check.hpp"

namespace conclave {

// The integers that convert to a count: signed ones do not, so that no -1 becomes 2^64 - 1.
template <class T>
concept CountSource =
    std::unsigned_integral<T> && !std::same_as<T, bool> && sizeof(T) <= sizeof(std::uint64_t);

// Exact and checked; adding a 64-bit integer costs an add, an add with carry and a branch.
class Interactions {
 public:
  constexpr Interactions() = default;
  // Implicit, so that `now += 1u` and `now < limit` read as they do for plain integers.
  template <CountSource T>
  constexpr Interactions(T count) : count_(count) {}

  // The largest count, 2^128 - 1.
  static constexpr Interactions max() { return from_wide(~Wide{0}); }

  constexpr Interactions& operator+=(Interactions other) {
    CONCLAVE_CHECK(!__builtin_add_overflow(count_, other.count_, &count_));
    return *this;
  }
  constexpr Interactions& operator-=(Interactions other) {
    CONCLAVE_CHECK(!__builtin_sub_overflow(count_, other.count_, &count_));
    return *this;
  }
  constexpr Interactions& operator*=(Interactions other) {
    CONCLAVE_CHECK(!__builtin_mul_overflow(count_, other.count_, &count_));
    return *this;
  }
  constexpr Interactions& operator++() { return *this += 1u; }

  friend constexpr Interactions operator+(Interactions a, Interactions b) { return a += b; }
  friend constexpr Interactions operator-(Interactions a, Interactions b) { return a -= b; }
  friend constexpr Interactions operator*(Interactions a, Interactions b) { return a *= b; }
  // Rounds down; a zero divisor is a failed check.
  friend constexpr Interactions operator/(Interactions a, Interactions b) {
    CONCLAVE_CHECK(b.count_ != 0);
    return from_wide(a.count_ / b.count_);
  }
  friend constexpr Interactions operator%(Interactions a, Interactions b) {
    CONCLAVE_CHECK(b.count_ != 0);
    return from_wide(a.count_ % b.count_);
  }

  friend constexpr bool operator==(const Interactions&, const Interactions&) = default;
  friend constexpr auto operator<=>(const Interactions&, const Interactions&) = default;

  // The nearest double; exact up to 2^53.
  constexpr double as_double() const {
    const auto low = static_cast<std::uint64_t>(count_);
    return low == count_ ? static_cast<double>(low) : static_cast<double>(count_);
  }

  // The same number in 64 bits, or nothing when it needs more.
  constexpr std::optional<std::uint64_t> as_uint64() const {
    if (count_ > std::numeric_limits<std::uint64_t>::max()) return std::nullopt;
    return static_cast<std::uint64_t>(count_);
  }

  // The compiler's own 128-bit integer, for arithmetic that needs no checks. Not a constructor: it
  // would compete with the implicit one for every integer.
  __extension__ using Wide = unsigned __int128;
  static constexpr Interactions from_wide(Wide wide) {
    Interactions result;
    result.count_ = wide;
    return result;
  }
  constexpr Wide as_wide() const { return count_; }

 private:
  Wide count_ = 0;
};

// All decimal digits, without separators; parse_count in numbers.hpp reads them back.
std::string to_string(Interactions count);

}  // namespace conclave
