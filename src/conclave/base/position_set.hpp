// A set of positions 0 ... size-1 that answers "which member comes next?": a bitmap, and above each
// level a bitmap of its words that are not zero. Every operation costs O(log_64 size); a change
// mostly touches one word. 1.02 bits per position.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace conclave {

class PositionSet {
 public:
  using Position = std::uint64_t;

  // Empty; positions are below `size`, which is not zero.
  explicit PositionSet(Position size);

  bool empty() const { return levels_.back().front() == 0; }
  // position < size, here and below.
  bool contains(Position position) const {
    return (levels_.front()[position / 64] & bit(position)) != 0;
  }

  // Nothing happens if it is a member already, or, for erase, if it is none.
  void insert(Position position) {
    for (Level& level : levels_) {
      std::uint64_t& word = level[position / 64];
      const bool known_above = word != 0;
      word |= bit(position);
      if (known_above) return;
      position /= 64;
    }
  }

  void erase(Position position) {
    for (Level& level : levels_) {
      std::uint64_t& word = level[position / 64];
      word &= ~bit(position);
      if (word != 0) return;
      position /= 64;
    }
  }

  // The position is a member iff `before`, and will be one iff `after`.
  void change(Position position, bool before, bool after) {
    if (before == after) return;
    if (after) {
      insert(position);
    } else {
      erase(position);
    }
  }

  // O(size / 64).
  void clear();

  // The first member among position, position + 1, ... and the last among position, position - 1,
  // ..., up to the end of the positions.
  std::optional<Position> first_from(Position position) const;
  std::optional<Position> last_up_to(Position position) const;

  // The same around the circle: after size - 1 comes 0. Empty only if the set is.
  std::optional<Position> next_around(Position position) const;
  std::optional<Position> previous_around(Position position) const;

 private:
  using Level = std::vector<std::uint64_t>;

  static std::uint64_t bit(Position position) { return std::uint64_t{1} << position % 64; }

  Position size_;
  std::vector<Level> levels_;  // the positions first, a single word last
};

}  // namespace conclave
