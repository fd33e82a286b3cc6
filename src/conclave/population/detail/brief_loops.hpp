// The loops over brief words (model/brief_words.hpp): equal results, whichever runs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "conclave/model/brief_words.hpp"
#include "conclave/population/meeting_pipeline.hpp"

namespace conclave::population::detail {

// Whether levels are to be kept, and whether somebody may have to be looked at.
struct BriefLoop {
  bool has_levels;
  bool looks;
};

// Carries out meetings, up to the first of somebody who must be looked at if the loop looks;
// returns how many.
template <BriefLoop loop>
[[gnu::noinline]] std::size_t meet_each(std::span<std::uint32_t> words,
                                        std::span<const std::uint64_t> meetings) {
  for (std::size_t k = 0; k < meetings.size(); ++k) {
    const Meeting meeting{meetings[k]};
    std::uint32_t& u = words[meeting.initiator()];
    std::uint32_t& v = words[meeting.responder()];
    const std::uint32_t larger = std::max(u, v);
    const std::uint32_t next_u =
        loop.has_levels ? BriefWord::after(u, larger) : BriefWord::counted(u);
    const std::uint32_t next_v =
        loop.has_levels ? BriefWord::after(v, larger) : BriefWord::counted(v);
    if (loop.looks && ((next_u | next_v) & BriefWord::look_bit) != 0) [[unlikely]]
      return k;
    u = next_u;
    v = next_v;
  }
  return meetings.size();
}

#if defined(__x86_64__)
// Whether this processor has the instructions for the functions below.
inline bool has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2") != 0;
  return has;
}

// The same with levels, one word in a register for SIMD: it has the operations for halves of words,
// and while one interaction is computed, the processor begins the next.
template <BriefLoop loop>
[[gnu::target("avx2")]] [[gnu::noinline]] std::size_t meet_each_avx2(
    std::span<std::uint32_t> words, std::span<const std::uint64_t> meetings) {
  const auto load = [](std::uint32_t word) { return _mm_cvtsi32_si128(static_cast<int>(word)); };
  const auto value = [](__m128i word) {
    return static_cast<std::uint32_t>(_mm_cvtsi128_si32(word));
  };
  const __m128i less = load(BriefWord::one_level - 1);
  for (std::size_t k = 0; k < meetings.size(); ++k) {
    const Meeting meeting{meetings[k]};
    std::uint32_t& u = words[meeting.initiator()];
    std::uint32_t& v = words[meeting.responder()];
    const __m128i larger = _mm_max_epu32(load(u), load(v));
    constexpr int low_halves = 0x55;
    const __m128i next_u = _mm_sub_epi32(_mm_blend_epi16(larger, load(u), low_halves), less);
    const __m128i next_v = _mm_sub_epi32(_mm_blend_epi16(larger, load(v), low_halves), less);
    if constexpr (loop.looks) {
      if ((value(_mm_or_si128(next_u, next_v)) & BriefWord::look_bit) != 0) [[unlikely]]
        return k;
    }
    u = value(next_u);
    v = value(next_v);
  }
  return meetings.size();
}

[[gnu::target("avx2")]] inline std::uint32_t largest_low_half_avx2(
    std::span<const std::uint32_t> words) {
  __m256i largest = _mm256_setzero_si256();
  std::size_t k = 0;
  for (; words.size() - k >= 8; k += 8) {
    const auto* const eight = reinterpret_cast<const __m256i*>(&words[k]);
    largest = _mm256_max_epu16(largest, _mm256_loadu_si256(eight));
  }
  alignas(32) std::uint32_t lanes[8];
  _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), largest);
  std::uint32_t result = 0;
  for (const std::uint32_t lane : lanes) result = std::max(result, lane & BriefWord::low_half);
  for (; k < words.size(); ++k) result = std::max(result, words[k] & BriefWord::low_half);
  return result;
}
#endif

// meet_each by the fastest code that this processor has.
template <BriefLoop loop>
std::size_t meet_in_words(std::span<std::uint32_t> words, std::span<const std::uint64_t> meetings) {
#if defined(__x86_64__)
  if constexpr (loop.has_levels) {
    if (has_avx2()) return meet_each_avx2<loop>(words, meetings);
  }
#endif
  return meet_each<loop>(words, meetings);
}

// The largest count of interactions, as words store it. O(words).
inline std::uint32_t largest_low_half(std::span<const std::uint32_t> words) {
#if defined(__x86_64__)
  if (has_avx2()) return largest_low_half_avx2(words);
#endif
  std::uint32_t result = 0;
  for (const std::uint32_t word : words) result = std::max(result, word & BriefWord::low_half);
  return result;
}

}  // namespace conclave::population::detail
