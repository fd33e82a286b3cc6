// Every random decision goes through a Choice. A simulator draws it (Stream, random.hpp); an exact
// module walks through all outcomes with their weights (EveryChoice, every_choice.hpp). One
// transition function therefore serves both, and what is proved is what is simulated.
//
//   void interact(State& u, State& v, Choice auto& choice) const {
//     if (u.leader && v.leader) (choice.chance(1, 2) ? u : v).leader = false;
//   }
#pragma once

#include <bit>
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

// Detects whether a transition draws a random number. If it does, its result is void.
struct NoticedChoice {
  bool is_asked = false;
  // Each of these notes that it was asked; the values mean nothing.
  constexpr std::uint64_t below64(std::uint64_t) { return below(1); }
  constexpr std::uint32_t below(std::uint32_t) {
    is_asked = true;
    return 0;
  }
  constexpr bool chance(std::uint32_t, std::uint32_t) {
    is_asked = true;
    return false;
  }
};
static_assert(Choice<NoticedChoice>);

// A Choice with virtual functions. Callers that need a transition only once per pair of states use
// this one, so that all of them share one compiled copy of the transition function.
class VirtualChoice {
 public:
  virtual std::uint32_t below(std::uint32_t bound) = 0;
  virtual bool chance(std::uint32_t p, std::uint32_t q) = 0;
  // The same for probabilities that need more digits.
  virtual bool wide_chance(std::uint64_t p, std::uint64_t q) = 0;

 protected:
  ~VirtualChoice() = default;
};
static_assert(Choice<VirtualChoice>);

// Uniform on 0 ... bound-1, exactly. One draw where 32 bits are enough; otherwise the digits of a
// number with as few bits as the bound needs, drawn again until it is below the bound.
inline std::uint64_t below64(Choice auto& choice, std::uint64_t bound) {
  if (bound <= 0xffffffff) return choice.below(static_cast<std::uint32_t>(bound));
  const auto high_bits = static_cast<int>(std::bit_width(bound - 1)) - 32;
  for (;;) {
    std::uint64_t value = high_bits < 32 ? choice.below(1u << high_bits) : choice.below(0x10000);
    if (high_bits == 32) value = value << 16 | choice.below(0x10000);
    value = value << 16 | choice.below(0x10000);
    value = value << 16 | choice.below(0x10000);
    if (value < bound) return value;
  }
}

}  // namespace conclave
