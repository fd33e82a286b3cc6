// A set of positions 0 ... size-1 that answers "which member comes next?": a bitmap, and above each
// level a bitmap of its words that are not zero. Every operation costs O(log_64 size); a change
// mostly touches one word. 1.02 bits per position.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "conclave/base/borrowed.hpp"

namespace conclave {

// Words is what holds the bits: a vector, or memory that is owned elsewhere (Borrowed).
template <class Words>
class BasicPositionSet {
 public:
  using Position = std::uint64_t;

  // How many words a set of that size needs.
  static constexpr std::size_t words(Position size) {
    std::size_t sum = 0;
    do {
      size = words_above(size);
      sum += size;
    } while (size > 1);
    return sum;
  }

  // Empty if the words, at least words(size) of them, are zero. Positions are below `size`, which
  // is not zero.
  constexpr BasicPositionSet(Position size, Words words) : words_(std::move(words)), size_(size) {
    std::size_t offset = 0;
    do {
      size = words_above(size);
      offsets_[levels_++] = offset;
      offset += size;
      offsets_[levels_] = offset;
    } while (size > 1);
  }

  constexpr bool empty() const { return words_[offsets_[levels_] - 1] == 0; }
  // position < size, here and below.
  constexpr bool contains(Position position) const {
    return (words_[position / 64] & bit(position)) != 0;
  }

  // No effect if it is a member already or, for erase, if it is not one.
  constexpr void insert(Position position) {
    for (std::size_t level = 0; level < levels_; ++level) {
      std::uint64_t& word = words_[offsets_[level] + position / 64];
      const bool known_above = word != 0;
      word |= bit(position);
      if (known_above) return;
      position /= 64;
    }
  }

  constexpr void erase(Position position) {
    for (std::size_t level = 0; level < levels_; ++level) {
      std::uint64_t& word = words_[offsets_[level] + position / 64];
      word &= ~bit(position);
      if (word != 0) return;
      position /= 64;
    }
  }

  // The position is a member iff `before`, and will be one iff `after`.
  constexpr void change(Position position, bool before, bool after) {
    if (before == after) return;
    if (after) {
      insert(position);
    } else {
      erase(position);
    }
  }

  // O(size / 64).
  constexpr void clear() {
    for (std::size_t i = 0; i < offsets_[levels_]; ++i) words_[i] = 0;
  }

  // The first member among position, position + 1, ... and the last among position, position - 1,
  // ..., up to the end of the positions. They climb until some word holds a member on the right
  // side, then descend to the nearest one.
  constexpr std::optional<Position> first_from(Position position) const {
    for (std::size_t level = 0; level < levels_; ++level) {
      const Position index = position / 64;
      if (offsets_[level] + index >= offsets_[level + 1]) return std::nullopt;
      const std::uint64_t right = word(level, index) & (~std::uint64_t{0} << position % 64);
      if (right == 0) {
        position = index + 1;
        continue;
      }
      position = index * 64 + lowest(right);
      while (level-- > 0) position = position * 64 + lowest(word(level, position));
      return position;
    }
    return std::nullopt;
  }
  // The mirror image.
  constexpr std::optional<Position> last_up_to(Position position) const {
    for (std::size_t level = 0; level < levels_; ++level) {
      const Position index = position / 64;
      const std::uint64_t left = word(level, index) & (~std::uint64_t{0} >> (63 - position % 64));
      if (left == 0) {
        if (index == 0) return std::nullopt;
        position = index - 1;
        continue;
      }
      position = index * 64 + highest(left);
      while (level-- > 0) position = position * 64 + highest(word(level, position));
      return position;
    }
    return std::nullopt;
  }

  // The same around the circle: after size - 1 comes 0. Empty only if the set is.
  constexpr std::optional<Position> next_around(Position position) const {
    const std::optional<Position> ahead = first_from(position);
    return ahead ? ahead : first_from(0);
  }
  constexpr std::optional<Position> previous_around(Position position) const {
    const std::optional<Position> behind = last_up_to(position);
    return behind ? behind : last_up_to(size_ - 1);
  }

 private:
  static constexpr std::size_t most_levels = 11;  // 64^11 > 2^64

  static constexpr Position words_above(Position size) {
    return size / 64 + (size % 64 != 0 ? 1 : 0);
  }
  static constexpr std::uint64_t bit(Position position) {
    return std::uint64_t{1} << position % 64;
  }
  // Both are for words that are not zero. When compiling for a device, nvcc 13 silently turns
  // std::countr_zero, std::bit_width and the 64-bit std::popcount into constants; the 32-bit
  // std::popcount works.
#ifdef __CUDA_ARCH__
  static constexpr Position bits_of(std::uint64_t word) {
    return static_cast<Position>(std::popcount(static_cast<std::uint32_t>(word)) +
                                 std::popcount(static_cast<std::uint32_t>(word >> 32)));
  }
  static constexpr Position lowest(std::uint64_t word) { return bits_of((word & (0 - word)) - 1); }
  static constexpr Position highest(std::uint64_t word) {
    for (int shift = 1; shift < 64; shift *= 2) word |= word >> shift;
    return bits_of(word) - 1;
  }
#else
  static constexpr Position lowest(std::uint64_t word) {
    return static_cast<Position>(std::countr_zero(word));
  }
  static constexpr Position highest(std::uint64_t word) {
    return static_cast<Position>(std::bit_width(word) - 1);
  }
#endif
  constexpr std::uint64_t word(std::size_t level, Position index) const {
    return words_[offsets_[level] + index];
  }

  Words words_;
  Position size_;
  std::size_t levels_ = 0;
  std::array<std::size_t, most_levels + 1> offsets_{};  // of the levels, the positions first
};

// A set that owns its bits.
class PositionSet : public BasicPositionSet<std::vector<std::uint64_t>> {
 public:
  explicit PositionSet(Position size)
      : BasicPositionSet(size, std::vector<std::uint64_t>(words(size), 0)) {}
};

using BorrowedPositionSet = BasicPositionSet<Borrowed<std::uint64_t>>;

}  // namespace conclave
