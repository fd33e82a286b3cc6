// Every random decision goes through a Choice. A simulator draws it; an exact module walks through
// all outcomes with their weights. One transition function therefore serves both.
#pragma once

#include <concepts>
#include <cstdint>

namespace conclave {

template <class C>
concept Choice = requires(C& choice, std::uint32_t bound, std::uint32_t p, std::uint32_t q) {
  { choice.below(bound) } -> std::same_as<std::uint32_t>;  // uniform on 0 ... bound-1
  { choice.chance(p, q) } -> std::same_as<bool>;           // true with probability p/q
};

// The archetype: declared only, for use in the concepts of other modules.
struct AnyChoice {
  std::uint32_t below(std::uint32_t bound);
  bool chance(std::uint32_t p, std::uint32_t q);
};
static_assert(Choice<AnyChoice>);

}  // namespace conclave
