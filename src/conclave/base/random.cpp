#include "conclave/base/random.hpp"

#include <Random123/philox.h>

#include "conclave/base/check.hpp"
#include "conclave/base/lanes.hpp"

namespace conclave {

Lanes::Lanes(const StreamName& name) {
  const r123::Philox4x64::key_type key{{name.seed, static_cast<std::uint64_t>(name.purpose)}};
  for (std::size_t lane = 0; lane < count; ++lane) {
    const r123::Philox4x64::ctr_type counter{{name.trial, lane, name.part, 0}};
    const auto words = r123::Philox4x64{}(counter, key);
    for (std::size_t i = 0; i < 4; ++i) state_[i][lane] = words[i];
    // The all-zero state is a fixed point of xoshiro; Philox gives it with probability 2^-256.
    CONCLAVE_CHECK((words[0] | words[1] | words[2] | words[3]) != 0);
  }
}

void Lanes::fill(std::span<std::uint64_t> words) {
  CONCLAVE_CHECK(words.size() % count == 0);
  fill_words(state_, words);
}

std::uint64_t Stream::below64_carefully(std::uint64_t bound, std::uint64_t low,
                                        std::uint64_t high) {
  __extension__ using Wide = unsigned __int128;
  const std::uint64_t biased = (0 - bound) % bound;
  while (low < biased) {
    const Wide product = static_cast<Wide>(word()) * bound;
    low = static_cast<std::uint64_t>(product);
    high = static_cast<std::uint64_t>(product >> 64);
  }
  return high;
}

void Stream::refill() {
  lanes_.fill(words_);
  next_ = 0;
}

}  // namespace conclave
