// The random words of base/random.hpp, for code that runs on a device: the same bits, one lane or
// one word at a time, from the same names.
#pragma once

#include <cstdint>

#include <Random123/philox.h>

#include "conclave/base/random.hpp"
#include "conclave/gpu/warp.hpp"

namespace conclave::gpu {

// One lane: a xoshiro256++ generator (Blackman and Vigna 2021).
struct LaneGenerator {
  std::uint64_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;

  // Writes it where the state of a whole stream keeps this lane.
  CONCLAVE_HOST_DEVICE void save(Lanes::State& state, int lane) const {
    auto* const words = state[0].data() + lane;  // four rows of eight
    words[0] = s0;
    words[8] = s1;
    words[16] = s2;
    words[24] = s3;
  }

  // The next word of this lane, which is every eighth of its stream.
  CONCLAVE_HOST_DEVICE std::uint64_t next() {
    const std::uint64_t sum = s0 + s3;
    const std::uint64_t result = (sum << 23 | sum >> 41) + s0;
    const std::uint64_t t = s1 << 17;
    s2 ^= s0;
    s3 ^= s1;
    s1 ^= s2;
    s0 ^= s3;
    s2 ^= t;
    s3 = s3 << 45 | s3 >> 19;
    return result;
  }
};

// The pair of n agents that a word of the schedule names, as in base/lanes.cpp.
struct DrawnPair {
  std::uint32_t initiator;
  std::uint32_t responder;
  bool is_fair;  // otherwise the word would bias the pair, or names one agent, and counts as none

  // Halves of words whose product with n ends below this would bias an agent.
  CONCLAVE_HOST_DEVICE static std::uint32_t biased(std::uint32_t n) {
    return static_cast<std::uint32_t>((1ull << 32) % n);
  }
  // `biased` is that of n, so that a caller computes it once.
  CONCLAVE_HOST_DEVICE static DrawnPair of(std::uint64_t word, std::uint32_t n,
                                           std::uint32_t biased) {
    const std::uint64_t first = (word >> 32) * n;
    const std::uint64_t second = (word & 0xffffffffu) * n;
    const auto initiator = static_cast<std::uint32_t>(first >> 32);
    const auto responder = static_cast<std::uint32_t>(second >> 32);
    return {initiator, responder,
            initiator != responder && static_cast<std::uint32_t>(first) >= biased &&
                static_cast<std::uint32_t>(second) >= biased};
  }
};

// One lane of the streams of one trial, named as Lanes does.
struct LaneNames {
  std::uint64_t seed;
  std::uint64_t trial;
  int lane;

  // The generator at its beginning.
  CONCLAVE_HOST_DEVICE LaneGenerator generator(Purpose purpose) const {
    const r123::Philox4x64::key_type key{{seed, static_cast<std::uint64_t>(purpose)}};
    const r123::Philox4x64::ctr_type counter{{trial, static_cast<std::uint64_t>(lane), 0, 0}};
    const r123::Philox4x64::ctr_type words = r123::Philox4x64{}(counter, key);
    return {words.v[0], words.v[1], words.v[2], words.v[3]};
  }
};

// A whole stream, word by word: what Stream gives, without its buffer. Satisfies Choice. The state
// is changed in place; its owner keeps it together with `next`, the lane that gives the next word.
class LaneStream {
 public:
  // Both must outlive it: 32 words, of which word i of lane k is at 8 i + k.
  CONCLAVE_HOST_DEVICE LaneStream(std::uint64_t* words, std::uint32_t* next)
      : words_(words), next_(next) {}

  // 64 uniform bits.
  CONCLAVE_HOST_DEVICE std::uint64_t word() {
    std::uint64_t* const row = words_ + *next_;
    *next_ = (*next_ + 1) % Lanes::count;
    LaneGenerator generator{row[0], row[8], row[16], row[24]};
    const std::uint64_t result = generator.next();
    row[0] = generator.s0;
    row[8] = generator.s1;
    row[16] = generator.s2;
    row[24] = generator.s3;
    return result;
  }

  // Uniform on 0 ... bound-1, exactly; the same words give the same numbers as those of Stream.
  CONCLAVE_HOST_DEVICE std::uint64_t below64(std::uint64_t bound) {
    __extension__ using Wide = unsigned __int128;
    for (;;) {
      const Wide product = static_cast<Wide>(word()) * bound;
      const auto low = static_cast<std::uint64_t>(product);
      // Below (0 - bound) % bound it would be biased; a device divides slowly, and need not here.
      if (low >= bound || low >= (0 - bound) % bound) {
        return static_cast<std::uint64_t>(product >> 64);
      }
    }
  }
  CONCLAVE_HOST_DEVICE std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(below64(bound));
  }
  CONCLAVE_HOST_DEVICE bool chance(std::uint32_t p, std::uint32_t q) { return below(q) < p; }

 private:
  std::uint64_t* words_;
  std::uint32_t* next_;
};

}  // namespace conclave::gpu
