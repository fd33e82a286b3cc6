// Agents in words of 32 bits, for stretches in which a protocol does nothing but count.
//
// Such a word has two fields. The high one counts down, by one per interaction of its agent. The
// low one falls together: after a meeting both agents have the larger of the two less one, except
// that an agent at the top stays there. In ppl without a virus these are timer_I and timer_L, and
// leaders are at the top. As long as no field gets to its end, a meeting is a dozen operations.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>

#include "conclave/model/population.hpp"

namespace conclave {

// The fields of a word: the low one has the bits of `low_mask`, a number of the form 2^b - 1, the
// high one all others.
struct BriefFields {
  std::uint32_t low_mask;
  std::uint32_t top;  // of the low field

  // One meeting; false, and nothing has been done, if a field ends with it.
  [[gnu::always_inline]] constexpr bool meet(std::uint32_t& u, std::uint32_t& v) const {
    const std::uint32_t low_u = u & low_mask;
    const std::uint32_t low_v = v & low_mask;
    const std::uint32_t low = std::max(low_u, low_v);
    if ((std::min(u, v) < least()) | (low == 0)) return false;
    u += low - low_u - one() - (low_u == top ? 0 : 1);
    v += low - low_v - one() - (low_v == top ? 0 : 1);
    return true;
  }

  constexpr std::uint32_t one() const { return low_mask + 1; }          // of the high field
  constexpr std::uint32_t least() const { return 2 * (low_mask + 1); }  // words below: it ends
};

// A protocol may offer such words, for times that it recognizes by its tally. While they are in
// use, the tally hears of nothing, and neither the number of leaders nor anybody's output changes.
template <class P>
concept HasBriefWords = Packing<P> && std::constructible_from<typename P::Brief, const P&> &&
    requires(const typename P::Brief& brief, const typename P::Tally& tally,
             typename P::Packed packed, std::uint32_t word) {
  { brief.fields() } -> std::same_as<BriefFields>;
  { brief.suits(tally) } -> std::same_as<bool>;  // whether to ask of the agents one by one
  { brief.fits(packed) } -> std::same_as<bool>;  // whether this state has a word
  { brief.shorten(packed) } -> std::same_as<std::uint32_t>;
  // The state that has come of the one that was `packed` when it was shortened.
  { brief.restore(word, packed) } -> std::same_as<typename P::Packed>;
  // Whether the tally may count that state otherwise than the one that was `packed`.
  { brief.is_counted(packed) } -> std::same_as<bool>;
  // A meeting with which a field ends; false, and nothing has been done, if words cannot tell what
  // comes of it.
  { brief.meet(word, word) } -> std::same_as<bool>;
};

}  // namespace conclave
