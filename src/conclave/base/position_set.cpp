#include "conclave/base/position_set.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "conclave/base/check.hpp"

namespace conclave {

PositionSet::PositionSet(Position size) : size_(size) {
  CONCLAVE_CHECK(size > 0);
  do {
    size = size / 64 + (size % 64 != 0 ? 1 : 0);
    levels_.emplace_back(size, 0);
  } while (size > 1);
}

void PositionSet::clear() {
  for (Level& level : levels_) std::ranges::fill(level, 0);
}

// Climbs until some word holds a member on the right side, then descends to the nearest one.
std::optional<PositionSet::Position> PositionSet::first_from(Position position) const {
  for (std::size_t height = 0; height < levels_.size(); ++height) {
    const Position index = position / 64;
    if (index >= levels_[height].size()) return std::nullopt;
    const std::uint64_t right = levels_[height][index] & (~std::uint64_t{0} << position % 64);
    if (right == 0) {
      position = index + 1;
      continue;
    }
    position = index * 64 + static_cast<Position>(std::countr_zero(right));
    while (height-- > 0) {
      position = position * 64 + static_cast<Position>(std::countr_zero(levels_[height][position]));
    }
    return position;
  }
  return std::nullopt;
}

std::optional<PositionSet::Position> PositionSet::last_up_to(Position position) const {
  for (std::size_t height = 0; height < levels_.size(); ++height) {
    const Position index = position / 64;
    const std::uint64_t left = levels_[height][index] & (~std::uint64_t{0} >> (63 - position % 64));
    if (left == 0) {
      if (index == 0) return std::nullopt;
      position = index - 1;
      continue;
    }
    position = index * 64 + static_cast<Position>(std::bit_width(left) - 1);
    while (height-- > 0) {
      position =
          position * 64 + static_cast<Position>(std::bit_width(levels_[height][position]) - 1);
    }
    return position;
  }
  return std::nullopt;
}

std::optional<PositionSet::Position> PositionSet::next_around(Position position) const {
  const std::optional<Position> ahead = first_from(position);
  return ahead ? ahead : first_from(0);
}

std::optional<PositionSet::Position> PositionSet::previous_around(Position position) const {
  const std::optional<Position> behind = last_up_to(position);
  return behind ? behind : last_up_to(size_ - 1);
}

}  // namespace conclave
