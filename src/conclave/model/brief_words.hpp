// The offers by which a protocol that counts down at every interaction is hurried: a shortcut for
// its most frequent interactions, and agents in words of 32 bits, for stretches in which it does
// little but count.
//
// The high half of a word is its level: after a meeting both agents have the larger of the two less
// one. In ppl that is the virus, which lasts as long as its level is above 0. The low half counts
// the interactions of the agent, and has its top bit set where the agent must be looked at: a
// leader that fires in ppl, or one that a virus kills.
//
// A word has no place for how much the agents have heard of their leaders. That number falls like a
// level, by one per meeting, except that leaders stay at the top; so it follows from the last
// meetings alone, whatever it was before them, and is computed from them when it is needed.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>

#include "conclave/model/population.hpp"

namespace conclave {

// A protocol may compute its most frequent interactions on packed states without branches; marked
// always_inline, for a call would undo that. Where `applies` is 0, the rest means nothing and
// `interact` is needed; where it is 1, the new states u and v are right, no random choice is made,
// and nothing that the protocol's Tally looks at has changed. ppl and timers do.
template <class P>
concept HasShortcut = Packing<P> && requires(const P& protocol, typename P::Packed packed) {
  { protocol.shortcut(packed, packed).u } -> std::convertible_to<typename P::Packed>;
  { protocol.shortcut(packed, packed).v } -> std::convertible_to<typename P::Packed>;
  { protocol.shortcut(packed, packed).applies } -> std::convertible_to<typename P::Packed>;
};

// An agent in 32 bits: its level, and how many interactions it may have before it must be unpacked.
class BriefWord {
 public:
  static constexpr std::uint32_t most_level = 0x7fff;
  static constexpr std::uint32_t most_patience = 0x7fff;

  // An agent that may have `patience` interactions before it must be looked at.
  static constexpr BriefWord of(std::uint32_t level, std::uint32_t patience) {
    return BriefWord((zero_level + level) * one_level + start(patience));
  }

  constexpr explicit BriefWord(std::uint32_t word) : word_(word) {}
  constexpr std::uint32_t word() const { return word_; }

  // A stored level may fall below 0, at most once per interaction of the agent; it counts as 0
  // then.
  constexpr std::uint32_t level() const {
    return std::max(word_ / one_level, zero_level) - zero_level;
  }
  // How many interactions the agent has had since its word was made with this patience.
  constexpr std::uint32_t interactions(std::uint32_t patience) const {
    return (word_ & low_half) - start(patience);
  }

  // A word after a meeting in which the larger word was `larger`.
  static constexpr std::uint32_t after(std::uint32_t word, std::uint32_t larger) {
    return (larger & ~low_half) + (word & low_half) - one_level + 1;
  }
  // A word after a meeting while no agent has a level above 0, so that levels need not be kept up.
  static constexpr std::uint32_t counted(std::uint32_t word) { return word + 1; }

  static constexpr std::uint32_t look_bit = 0x8000;
  static constexpr std::uint32_t low_half = 0xffff;
  static constexpr std::uint32_t one_level = 0x10000;

 private:
  static constexpr std::uint32_t zero_level = 0x8000;
  static constexpr std::uint32_t start(std::uint32_t patience) { return most_patience - patience; }

  std::uint32_t word_;
};

// A protocol may offer brief words for stretches that it recognizes by its tally, in which no agent
// becomes a leader, and leaders are lost only in meetings that are looked at. An agent whose
// patience is over is looked at before its next interaction: a leader then interacts as the
// protocol says; a follower ends the stretch.
template <class P>
concept HasBriefWords = Packing<P> && std::constructible_from<typename P::Brief, const P&> &&
    requires(const typename P::Brief& brief, const typename P::Tally& tally,
             typename P::Packed packed, std::uint32_t number, bool are_levels_over) {
  { brief.suits(tally) } -> std::same_as<bool>;  // whether a stretch may begin
  { brief.fits(packed) } -> std::same_as<bool>;  // whether this state has a word
  { brief.leads(packed) } -> std::same_as<bool>;
  { brief.level(packed) } -> std::same_as<std::uint32_t>;
  { brief.patience(packed, are_levels_over) } -> std::same_as<std::uint32_t>;
  // The state after so many interactions, with this level, but for what it has heard.
  { brief.later(packed, number, number) } -> std::same_as<typename P::Packed>;
  { brief.heard(packed) } -> std::same_as<std::uint32_t>;
  { brief.having_heard(packed, number) } -> std::same_as<typename P::Packed>;
  { brief.most_heard() } -> std::same_as<std::uint32_t>;  // of leaders, and after meeting one
};

}  // namespace conclave
