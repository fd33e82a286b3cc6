// Far places of a random stream without the words before them. A lane of the generator is linear:
// each bit of its state is a sum, modulo 2, of bits of the state before. So many steps at once are
// such a sum, too, and are made once: what becomes of a state is the sum of what becomes of its
// bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "conclave/base/random.hpp"

namespace conclave {

// A number of steps of a lane, in 8 KiB. Its functions are constexpr, so that devices have them,
// too.
class Jump {
 public:
  // No step.
  constexpr Jump() {
    for (std::size_t bit = 0; bit < state_bits; ++bit) {
      images_[bit] = {};
      images_[bit].words[bit / 64] = std::uint64_t{1} << bit % 64;
    }
  }

  // About 0.2 ms for each bit of `steps`.
  static constexpr Jump of(std::uint64_t steps) {
    Jump all;
    for (Jump power = one_step(); steps != 0; steps /= 2) {
      if (steps % 2 != 0) all = all.then(power);
      power = power.then(power);
    }
    return all;
  }

  // These steps and then the others, as one jump; about 0.1 ms.
  constexpr Jump then(const Jump& next) const {
    Jump both;
    for (std::size_t bit = 0; bit < state_bits; ++bit) both.images_[bit] = next.sum(images_[bit]);
    return both;
  }

  // A lane by itself, which has the words s0 ... s3.
  constexpr void advance(auto& lane) const {
    const Words before{{lane.s0, lane.s1, lane.s2, lane.s3}};
    const Words after = sum(before);
    lane.s0 = after.words[0];
    lane.s1 = after.words[1];
    lane.s2 = after.words[2];
    lane.s3 = after.words[3];
  }
  // All lanes of a stream; some microseconds.
  constexpr void advance(Lanes::State& state) const {
    for (std::size_t lane = 0; lane < Lanes::count; ++lane) {
      const Words before{{state[0][lane], state[1][lane], state[2][lane], state[3][lane]}};
      const Words after = sum(before);
      for (std::size_t i = 0; i < 4; ++i) state[i][lane] = after.words[i];
    }
  }

 private:
  static constexpr std::size_t state_bits = 256;
  struct alignas(32) Words {
    std::uint64_t words[4];
  };

  // The step of xoshiro256++ (Blackman and Vigna 2021) without its output; gpu/lane_stream.hpp and
  // base/lanes.cpp have it with the output, and tests compare them.
  static constexpr Jump one_step() {
    Jump jump;
    for (Words& image : jump.images_) {
      auto& [s0, s1, s2, s3] = image.words;
      const std::uint64_t t = s1 << 17;
      s2 ^= s0;
      s3 ^= s1;
      s1 ^= s2;
      s0 ^= s3;
      s2 ^= t;
      s3 = s3 << 45 | s3 >> 19;
    }
    return jump;
  }

  // Threads of a device look at the same image at a time, whichever bits they have.
  constexpr Words sum(const Words& state) const {
    Words result{};
    const Words* image = images_;
    for (int i = 0; i < 4; ++i) {
      for (std::uint64_t left = state.words[i], bit = 0; bit < 64; ++bit, left /= 2, ++image) {
        const std::uint64_t mask = 0 - (left & 1);
        for (int k = 0; k < 4; ++k) result.words[k] ^= image->words[k] & mask;
      }
    }
    return result;
  }

  Words images_[state_bits];
};

}  // namespace conclave
