// Compiled once per target by Highway's foreach_target; see lanes.hpp for the contract.
#include "conclave/base/lanes.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "conclave/base/lanes.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace conclave::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Words = hn::CappedTag<std::uint64_t, Lanes::count>;
using Word = hn::Vec<Words>;

// One xoshiro256++ (Blackman and Vigna 2021) per SIMD lane.
struct Xoshiro {
  Word s0, s1, s2, s3;

  static Xoshiro load(const Lanes::State& state, std::size_t lane) {
    const Words d;
    return {hn::Load(d, &state[0][lane]), hn::Load(d, &state[1][lane]),
            hn::Load(d, &state[2][lane]), hn::Load(d, &state[3][lane])};
  }

  void store(Lanes::State& state, std::size_t lane) const {
    const Words d;
    hn::Store(s0, d, &state[0][lane]);
    hn::Store(s1, d, &state[1][lane]);
    hn::Store(s2, d, &state[2][lane]);
    hn::Store(s3, d, &state[3][lane]);
  }

  Word next() {
    const Word result = hn::Add(hn::RotateRight<64 - 23>(hn::Add(s0, s3)), s0);
    const Word t = hn::ShiftLeft<17>(s1);
    s2 = hn::Xor(s2, s0);
    s3 = hn::Xor(s3, s1);
    s1 = hn::Xor(s1, s2);
    s0 = hn::Xor(s0, s3);
    s2 = hn::Xor(s2, t);
    s3 = hn::RotateRight<64 - 45>(s3);
    return result;
  }
};

// Runs `consume(vector of words)` over `words` words in stream order. The registers of all lanes
// are kept across the loop; a vector holds one to eight words, as the machine has it.
template <class Consume>
HWY_INLINE void for_each_vector(Lanes::State& state, std::size_t words, Consume&& consume) {
  constexpr std::size_t width = hn::MaxLanes(Words());
  constexpr std::size_t vectors = Lanes::count / width;
  Xoshiro generators[vectors];
  for (std::size_t v = 0; v < vectors; ++v) generators[v] = Xoshiro::load(state, v * width);
  for (std::size_t done = 0; done < words; done += Lanes::count) {
    for (std::size_t v = 0; v < vectors; ++v) consume(generators[v].next());
  }
  for (std::size_t v = 0; v < vectors; ++v) generators[v].store(state, v * width);
}

void fill_words(Lanes::State& state, std::span<std::uint64_t> words) {
  const Words d;
  std::uint64_t* out = words.data();
  for_each_vector(state, words.size(), [&](Word word) {
    hn::StoreU(word, d, out);
    out += hn::Lanes(d);
  });
}

// Appends the pairs of one vector to `out`, without those to drop.
template <class Mask>
HWY_INLINE std::uint64_t* append(Word pair, Mask drop, std::uint64_t* out) {
  const Words d;
  if (HWY_LIKELY(hn::AllFalse(d, drop))) {
    hn::StoreU(pair, d, out);
    return out + hn::Lanes(d);
  }
  return out + hn::CompressStore(pair, hn::Not(drop), d, out);
}

// The product of the low halves of two words: 32 x 32 -> 64 bits.
HWY_INLINE Word multiply_low(Word a, Word b) {
#if HWY_TARGET == HWY_SCALAR  // has no halves of a lane
  const std::uint64_t half = 0xffffffffu;
  return hn::Set(Words(), (hn::GetLane(a) & half) * (hn::GetLane(b) & half));
#else
  const hn::Repartition<std::uint32_t, Words> halves;
  return hn::MulEven(hn::BitCast(halves, a), hn::BitCast(halves, b));
#endif
}

// For small populations, one multiplication per agent: each half x of a word gives the agent
// floor(x n / 2^32), dropped if x n mod 2^32 < 2^32 mod n (Lemire 2019) or if both halves give the
// same agent.
std::size_t fill_pairs_small(Lanes::State& state, std::uint64_t n, std::uint64_t* pairs,
                             std::size_t words) {
  const Words d;
  const Word low_half = hn::Set(d, 0xffffffffu);
  const Word high_half = hn::Not(low_half);
  const Word agents = hn::Set(d, n);
  const Word biased = hn::Set(d, (std::uint64_t{1} << 32) % n);
  std::uint64_t* out = pairs;
  for_each_vector(state, words, [&](Word word) {
    const Word first = multiply_low(hn::ShiftRight<32>(word), agents);
    const Word second = multiply_low(word, agents);
    const Word pair = hn::Or(hn::ShiftRight<32>(first), hn::And(second, high_half));
    const auto same = hn::Eq(hn::And(hn::Xor(first, second), high_half), hn::Zero(d));
    const auto first_biased = hn::Lt(hn::And(first, low_half), biased);
    const auto second_biased = hn::Lt(hn::And(second, low_half), biased);
    out = append(pair, hn::Or(same, hn::Or(first_biased, second_biased)), out);
  });
  return static_cast<std::size_t>(out - pairs);
}

struct Product {
  Word high, low;
};

// The 96-bit product of a 64-bit word and a factor below 2^32, as its high 32 and low 64 bits.
HWY_INLINE Product multiply(Word word, Word factor) {
  const Word low = multiply_low(word, factor);
  const Word high = multiply_low(hn::ShiftRight<32>(word), factor);
  const Word middle = hn::Add(high, hn::ShiftRight<32>(low));
  const Word low_half = hn::Set(Words(), 0xffffffffu);
  return {hn::ShiftRight<32>(middle), hn::Or(hn::ShiftLeft<32>(middle), hn::And(low, low_half))};
}

// For any population below 2^32: floor(x n (n-1) / 2^64) is uniform over all ordered pairs once the
// words x with x n (n-1) mod 2^64 < 2^64 mod n(n-1) are dropped (Lemire 2019, in two steps as in
// Brackett-Rozinsky and Lemire 2024): first the initiator, then the responder among the others.
std::size_t fill_pairs_large(Lanes::State& state, std::uint64_t n, std::uint64_t* pairs,
                             std::size_t words) {
  const std::uint64_t all_pairs = n * (n - 1);
  const Words d;
  const Word biased = hn::Set(d, (0 - all_pairs) % all_pairs);
  const Word agents = hn::Set(d, n);
  const Word others = hn::Set(d, n - 1);
  const Word one = hn::Set(d, 1);
  std::uint64_t* out = pairs;
  for_each_vector(state, words, [&](Word word) {
    const Product first = multiply(word, agents);
    const Product second = multiply(first.low, others);
    const Word initiator = first.high;
    // The others are numbered without the initiator: from its number on, move up by one.
    const auto below = hn::Lt(second.high, initiator);
    const Word responder = hn::IfThenElse(below, second.high, hn::Add(second.high, one));
    const Word pair = hn::Or(initiator, hn::ShiftLeft<32>(responder));
    out = append(pair, hn::Lt(second.low, biased), out);
  });
  return static_cast<std::size_t>(out - pairs);
}

std::size_t fill_pairs(Lanes::State& state, std::uint64_t n, std::uint64_t* pairs,
                       std::size_t words) {
  return n <= small_population ? fill_pairs_small(state, n, pairs, words)
                               : fill_pairs_large(state, n, pairs, words);
}

// floor(x n / 2^64) is uniform over the agents once the words x with x n mod 2^64 < 2^64 mod n are
// dropped (Lemire 2019).
std::size_t fill_arcs(Lanes::State& state, std::uint64_t n, std::uint64_t* arcs,
                      std::size_t words) {
  const Words d;
  const Word biased = hn::Set(d, (0 - n) % n);
  const Word agents = hn::Set(d, n);
  const Word one = hn::Set(d, 1);
  std::uint64_t* out = arcs;
  for_each_vector(state, words, [&](Word word) {
    const Product product = multiply(word, agents);
    const Word next = hn::Add(product.high, one);
    const Word responder = hn::IfThenZeroElse(hn::Eq(next, agents), next);
    const Word arc = hn::Or(product.high, hn::ShiftLeft<32>(responder));
    out = append(arc, hn::Lt(product.low, biased), out);
  });
  return static_cast<std::size_t>(out - arcs);
}

}  // namespace conclave::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace conclave {

HWY_EXPORT(fill_words);
HWY_EXPORT(fill_pairs);
HWY_EXPORT(fill_arcs);

void fill_words(Lanes::State& state, std::span<std::uint64_t> words) {
  HWY_DYNAMIC_DISPATCH(fill_words)(state, words);
}

std::size_t fill_pairs(Lanes::State& state, std::uint64_t n, std::uint64_t* pairs,
                       std::size_t words) {
  return HWY_DYNAMIC_DISPATCH(fill_pairs)(state, n, pairs, words);
}

std::size_t fill_arcs(Lanes::State& state, std::uint64_t n, std::uint64_t* arcs,
                      std::size_t words) {
  return HWY_DYNAMIC_DISPATCH(fill_arcs)(state, n, arcs, words);
}

}  // namespace conclave
#endif
