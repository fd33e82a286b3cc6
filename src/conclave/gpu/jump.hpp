// Far places of a random stream without the words before them. A lane of the generator
// (lane_stream.hpp) is linear: each bit of its state is a sum, modulo 2, of bits of the state
// before. So many steps at once are such a sum, too, and are made once: what becomes of a state is
// the sum of what becomes of its bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "conclave/gpu/lane_stream.hpp"
#include "conclave/gpu/warp.hpp"

namespace conclave::gpu {

class Jump {
 public:
  // No step.
  Jump() {
    for (std::size_t bit = 0; bit < state_bits; ++bit) {
      images_[bit] = {};
      images_[bit].words[bit / 64] = std::uint64_t{1} << bit % 64;
    }
  }

  // About 0.2 ms for each bit of `steps`.
  static Jump of(std::uint64_t steps) {
    Jump all;
    for (Jump power = one_step(); steps != 0; steps /= 2) {
      if (steps % 2 != 0) all = all.then(power);
      power = power.then(power);
    }
    return all;
  }

  Jump then(const Jump& next) const {
    Jump both;
    for (std::size_t bit = 0; bit < state_bits; ++bit) both.images_[bit] = next.sum(images_[bit]);
    return both;
  }

  CONCLAVE_HOST_DEVICE void advance(LaneGenerator& generator) const {
    const Words after = sum({generator.s0, generator.s1, generator.s2, generator.s3});
    generator = {after.words[0], after.words[1], after.words[2], after.words[3]};
  }

 private:
  static constexpr std::size_t state_bits = 256;
  struct alignas(32) Words {
    std::uint64_t words[4];
  };

  static Jump one_step() {
    Jump jump;
    for (Words& image : jump.images_) {
      auto& [s0, s1, s2, s3] = image.words;
      LaneGenerator generator{s0, s1, s2, s3};
      generator.next();
      image = {generator.s0, generator.s1, generator.s2, generator.s3};
    }
    return jump;
  }

  // All threads look at the same image at a time, whichever bits they have.
  CONCLAVE_HOST_DEVICE Words sum(const Words& state) const {
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

}  // namespace conclave::gpu
