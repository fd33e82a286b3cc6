// Drawing without repetition: every set of the wanted size is equally likely (Floyd's algorithm, in
// Bentley, Communications of the ACM 30(9), 1987). One draw and O(1) expected work per number.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "conclave/base/choice.hpp"

namespace conclave {

// Keeps its memory from call to call. Not for several threads.
class DistinctDraws {
 public:
  // `count` different numbers below `bound`, in an order that is not random; count <= bound. Every
  // set is equally likely, exactly. The span is the caller's to change, and valid until the next
  // call.
  std::span<std::uint32_t> operator()(std::uint32_t count, std::uint32_t bound,
                                      Choice auto& choice) {
    prepare(count);
    std::uint32_t* place = drawn_.data();
    for (std::uint32_t last = bound - count; last < bound; ++last) {
      const std::uint32_t drawn = choice.below(last + 1);
      const bool is_new = insert(drawn);
      if (!is_new) insert(last);
      *place++ = is_new ? drawn : last;
    }
    return {drawn_.data(), count};
  }

 private:
  struct Slot {
    std::uint32_t time = 0;  // of the last use; older contents do not count
    std::uint32_t number = 0;
  };

  void prepare(std::uint32_t count) {
    if (drawn_.size() < count) drawn_.resize(count);
    const std::size_t roomy = 8 * std::size_t{count};  // so that few slots are looked at twice
    if (seen_.size() < roomy) seen_.assign(std::bit_ceil(roomy), {});
    if (++time_ != 0) return;
    seen_.assign(seen_.size(), {});
    time_ = 1;
  }

  bool insert(std::uint32_t number) {
    const std::size_t mask = seen_.size() - 1;
    std::size_t place = number * std::uint64_t{0x9e3779b97f4a7c15u} >> 32 & mask;
    while (seen_[place].time == time_) {
      if (seen_[place].number == number) return false;
      place = (place + 1) & mask;
    }
    seen_[place] = {time_, number};
    return true;
  }

  std::vector<std::uint32_t> drawn_;
  std::vector<Slot> seen_;
  std::uint32_t time_ = 0;
};

}  // namespace conclave
