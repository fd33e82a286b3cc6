// Random numbers. Every stream has a name (seed, trial, purpose); Philox4x64 of Random123 turns the
// name into the state of eight interleaved xoshiro256++ generators, which run in SIMD registers and
// give the same bits on every machine. Two purposes never share a stream, so that what one part of
// a trial draws never shifts what another part sees. Not cryptographic: who sees some words of a
// stream can compute the others.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace conclave {

// The uses of streams. The numbers are part of the results: never reuse or renumber one.
enum class Purpose : std::uint64_t {
  schedule = 1,     // which agents meet
  transition = 2,   // random choices inside an interaction
  start = 3,        // the initial configuration
  fault = 4,        // whom a fault hits and what becomes of them
  graph = 5,        // random graphs
  wakeup = 6,       // whom an adversary wakes, and when
  delay = 7,        // how long messages take
  port = 8,         // which port leads where, who has which identifier
  node = 9,         // the coins of the nodes of a network
  search = 10,      // which starts a search tries
  clock = 11,       // at which times the reactions of a network are tried
  clock_part = 12,  // parts of that time, each named by a random word
  look = 13,        // what is seen of a trial between two points at which its engine stands still
  messages = 40,    // circulating messages of a corrupted agent, named by a random word
  test = 1000,      // tests and benchmarks
};

// A value that names a stream; equal names give equal words, for ever.
struct StreamName {
  std::uint64_t seed = 1;
  std::uint64_t trial = 0;
  Purpose purpose = Purpose::test;
  std::uint64_t part = 0;  // of a trial that goes on with another engine

  // The same trial, for another purpose.
  StreamName with(Purpose other) const { return {seed, trial, other, part}; }
};

// Eight xoshiro256++ generators side by side. Word k of the stream comes from lane k mod 8.
class Lanes {
 public:
  static constexpr std::size_t count = 8;

  // O(1): eight calls of Philox.
  explicit Lanes(const StreamName& name);

  // Writes the next words of the stream; the number of words must be a multiple of 8.
  void fill(std::span<std::uint64_t> words);

  // state()[i][lane] is word i of that lane's xoshiro256++ state, for kernels that fuse the
  // generator with what they do to its words.
  using State = std::array<std::array<std::uint64_t, count>, 4>;
  State& state() { return state_; }

 private:
  alignas(64) State state_;
};

// A stream of random words and unbiased integers: about a nanosecond per draw. Satisfies Choice. A
// copy goes on with the same words as the original; one stream is not for several threads.
class Stream {
 public:
  // At the beginning of the stream of that name.
  explicit Stream(const StreamName& name) : lanes_(name) {}

  // 64 uniform bits.
  std::uint64_t word() {
    if (next_ == words_.size()) refill();
    return words_[next_++];
  }

  // Uniform on 0 ... bound-1, exactly (Lemire 2019: multiply, reject the few biased words); bound >
  // 0.
  [[gnu::always_inline]] std::uint64_t below64(std::uint64_t bound) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(word()) * bound;
    if (static_cast<std::uint64_t>(product) < bound) [[unlikely]] {
      return below64_carefully(bound, static_cast<std::uint64_t>(product),
                               static_cast<std::uint64_t>(product >> 64));
    }
    return static_cast<std::uint64_t>(product >> 64);
  }

  // The functions of Choice: uniform on 0 ... bound-1, and true with probability p/q; p <= q, q >
  // 0.
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(below64(bound)); }
  bool chance(std::uint32_t p, std::uint32_t q) { return below(q) < p; }

 private:
  void refill();
  // Where the word may be a biased one; apart, so that the frequent case is short enough to inline.
  std::uint64_t below64_carefully(std::uint64_t bound, std::uint64_t low, std::uint64_t high);

  Lanes lanes_;
  std::array<std::uint64_t, 128> words_;
  std::size_t next_ = words_.size();
};

}  // namespace conclave
