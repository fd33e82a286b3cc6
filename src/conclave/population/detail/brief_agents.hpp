// Agents by their brief words (model/brief_words.hpp): eight meetings without a common agent are
// the operations of one, on the sixteen lanes of a register. The trial is the same, interaction by
// interaction: eight meetings of which two share an agent, or in which a field ends, are carried
// out one after the other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "conclave/model/brief_words.hpp"
#include "conclave/population/detail/eight_meetings.hpp"
#include "conclave/population/detail/instruction_set.hpp"
#include "conclave/population/meeting_pipeline.hpp"

namespace conclave::population::detail {

// Carries out meetings up to the first with which a field ends; returns how many.
[[gnu::noinline]] inline std::size_t meet_each(const BriefFields& given, std::uint32_t* words,
                                               std::span<const std::uint64_t> meetings) {
  const BriefFields fields = given;
  for (std::size_t k = 0; k < meetings.size(); ++k) {
    const Meeting meeting{meetings[k]};
    if (!fields.meet(words[meeting.initiator()], words[meeting.responder()])) return k;
  }
  return meetings.size();
}

#if defined(__x86_64__)
// The same for eight meetings at a time, which are a register of agents: initiator, responder,
// initiator, and so on.
class EightMeetings {
 public:
  CONCLAVE_CONFLICTS static std::size_t meet(const BriefFields& given, std::uint32_t* words,
                                             std::span<const std::uint64_t> meetings) {
    const BriefFields fields = given;  // a copy, which no word can change
    std::size_t done = 0;
    for (; meetings.size() - done >= 8; done += 8) {
      const std::uint64_t* const eight = &meetings[done];
      const __m512i before = read(words, eight);
      if ((repeated_agents(eight) | ending(fields, before)) == 0) [[likely]] {
        write(words, eight, after(fields, before));
        continue;
      }
      const std::size_t some = meet_each(fields, words, meetings.subspan(done, 8));
      if (some < 8) return done + some;
    }
    return done + meet_each(fields, words, meetings.subspan(done));
  }

 private:
  CONCLAVE_CONFLICTS CONCLAVE_INLINE static __m512i all(std::uint32_t value) {
    return _mm512_set1_epi32(static_cast<int>(value));
  }

  // Word by word: the instructions that gather and scatter take longer.
  CONCLAVE_CONFLICTS CONCLAVE_INLINE static __m512i read(const std::uint32_t* words,
                                                         const std::uint64_t* eight) {
    const auto u = [=](int k) { return static_cast<int>(words[Meeting{eight[k]}.initiator()]); };
    const auto v = [=](int k) { return static_cast<int>(words[Meeting{eight[k]}.responder()]); };
    return _mm512_setr_epi32(u(0), v(0), u(1), v(1), u(2), v(2), u(3), v(3), u(4), v(4), u(5), v(5),
                             u(6), v(6), u(7), v(7));
  }

  CONCLAVE_CONFLICTS CONCLAVE_INLINE static void write(std::uint32_t* words,
                                                       const std::uint64_t* eight, __m512i after) {
    alignas(64) std::uint32_t lanes[16];
    _mm512_store_si512(lanes, after);
    const auto put = [&](std::size_t k) {
      words[Meeting{eight[k]}.initiator()] = lanes[2 * k];
      words[Meeting{eight[k]}.responder()] = lanes[2 * k + 1];
    };
    put(0), put(1), put(2), put(3), put(4), put(5), put(6), put(7);
  }

  // The larger low field of each pair, in both lanes. With masks of all lanes, because GCC 12 warns
  // of what it thinks is not initialized in the functions without.
  CONCLAVE_CONFLICTS CONCLAVE_INLINE static __m512i larger(__m512i low) {
    constexpr __mmask16 every = 0xffff;
    return _mm512_maskz_max_epu32(every, low,
                                  _mm512_maskz_shuffle_epi32(every, low, _MM_PERM_CDAB));
  }

  // Those of which a field ends.
  CONCLAVE_CONFLICTS CONCLAVE_INLINE static unsigned ending(const BriefFields& fields,
                                                            __m512i before) {
    const __m512i low = larger(_mm512_and_si512(before, all(fields.low_mask)));
    const unsigned high_ends = _mm512_cmplt_epu32_mask(before, all(fields.least()));
    return high_ends | _mm512_testn_epi32_mask(low, low);
  }

  CONCLAVE_CONFLICTS CONCLAVE_INLINE static __m512i after(const BriefFields& fields,
                                                          __m512i before) {
    const __m512i low = _mm512_and_si512(before, all(fields.low_mask));
    const __m512i high = _mm512_sub_epi32(before, low);
    const __m512i less =
        _mm512_sub_epi32(_mm512_add_epi32(high, larger(low)), all(fields.one() + 1));
    const __mmask16 stays = _mm512_cmpeq_epi32_mask(low, all(fields.top));
    return _mm512_mask_add_epi32(less, stays, less, all(1));
  }
};
#endif

// As many of the first meetings as words can tell the outcome of.
inline std::size_t meet_in_words(const BriefFields& fields, std::uint32_t* words,
                                 std::span<const std::uint64_t> meetings) {
#if defined(__x86_64__)
  if (instruction_set() == InstructionSet::avx512) {
    return EightMeetings::meet(fields, words, meetings);
  }
#endif
  return meet_each(fields, words, meetings);
}

template <HasBriefWords P>
class BriefAgents {
 public:
  using Packed = typename P::Packed;
  using Tally = typename P::Tally;

  explicit BriefAgents(const P& protocol) : brief_(protocol) {}

  bool is_running() const { return !words_.empty(); }

  bool suits(const Tally& tally) const { return brief_.suits(tally); }

  // Takes the agents over, if the states of all have words. O(n).
  bool begin(std::span<const Packed> agents) {
    if (!std::ranges::all_of(agents, [this](Packed agent) { return brief_.fits(agent); })) {
      return false;
    }
    words_.resize(agents.size());
    std::ranges::transform(agents, words_.begin(),
                           [this](Packed agent) { return brief_.shorten(agent); });
    return true;
  }

  // Gives them back, if it has them: to the array that it took them from, which must be as it was.
  // O(n).
  void end(const P& protocol, Tally& tally, std::span<Packed> agents) {
    for (std::size_t agent = 0; agent < words_.size(); ++agent) {
      const Packed before = agents[agent];
      agents[agent] = brief_.restore(words_[agent], before);
      if (!brief_.is_counted(before)) continue;
      tally.remove(protocol.unpack(before), 1);
      tally.add(protocol.unpack(agents[agent]), 1);
    }
    words_.clear();
  }

  // As many of the first meetings as words can tell the outcome of.
  std::size_t meet(std::span<const std::uint64_t> meetings) {
    std::size_t done = 0;
    while (true) {
      done += meet_in_words(brief_.fields(), words_.data(), meetings.subspan(done));
      if (done == meetings.size()) return done;
      const Meeting meeting{meetings[done]};
      if (!brief_.meet(words_[meeting.initiator()], words_[meeting.responder()])) return done;
      ++done;
    }
  }

 private:
  typename P::Brief brief_;
  std::vector<std::uint32_t> words_;  // empty unless it is running
};

// Those of a protocol, or nothing where it has no brief words.
template <class P>
struct NoBriefAgents {
  explicit NoBriefAgents(const P&) {}
};
template <class P>
struct BriefAgentsOf : std::type_identity<NoBriefAgents<P>> {};
template <HasBriefWords P>
struct BriefAgentsOf<P> : std::type_identity<BriefAgents<P>> {};

}  // namespace conclave::population::detail
