// Numbers byte strings in the order in which they are first seen; the strings lie one after the
// other in one block, with eight bytes each for where they end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "conclave/base/key_index.hpp"

namespace conclave::schedules::detail {

class Interned {
 public:
  // The number of the string, and whether it is new. Expected O(length). At most 2^32 - 1 strings.
  std::pair<std::uint32_t, bool> number(std::string_view bytes) {
    const auto [number, is_new] = index_.find_or_add(
        hash(bytes), [&](std::uint32_t other) { return at(other) == bytes; },
        [this](std::uint32_t other) { return hash(at(other)); });
    if (is_new) {
      bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
      ends_.push_back(bytes_.size());
    }
    return {number, is_new};
  }

  std::size_t size() const { return ends_.size(); }

 private:
  static std::uint64_t hash(std::string_view bytes) { return std::hash<std::string_view>{}(bytes); }

  std::string_view at(std::uint32_t number) const {
    const std::size_t begin = number == 0 ? 0 : ends_[number - 1];
    return {bytes_.data() + begin, ends_[number] - begin};
  }

  std::vector<char> bytes_;
  std::vector<std::size_t> ends_;
  KeyIndex<TaggedSlot> index_{50};
};

}  // namespace conclave::schedules::detail
