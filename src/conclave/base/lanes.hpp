// The SIMD kernels behind Lanes: compiled once per instruction set, chosen at run time, equal bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "conclave/base/random.hpp"

namespace conclave {

// The next words of the stream, a multiple of 8 of them.
void fill_words(Lanes::State& state, std::span<std::uint64_t> words);

// The two functions below fuse the generator with what is done to its words, which is worth a
// factor of two. Both need room for `words` results.

// Turns each random word into an ordered pair of distinct agents, uniform over all n(n-1), or drops
// it because it would bias the pair. A pair is stored as initiator + responder * 2^32. Consumes
// `words` words of the stream (a multiple of 8), returns how many pairs it wrote. 2 <= n < 2^32.
// Up to `small_population` agents, both agents come from half a word each, which is faster but
// drops up to n / 2^31 + 1 / n of the words; above it, from one product of the whole word.
inline constexpr std::uint64_t small_population = std::uint64_t{1} << 24;
std::size_t fill_pairs(Lanes::State& state, std::uint64_t n, std::uint64_t* pairs,
                       std::size_t words);

// The same for the arcs (i, i + 1 mod n) of the directed ring, uniform over all n of them.
// 2 <= n < 2^32; drops less than one word in 2^32.
std::size_t fill_arcs(Lanes::State& state, std::uint64_t n, std::uint64_t* arcs, std::size_t words);

}  // namespace conclave
