// Numbers byte strings in the order in which they are first seen: 8 bytes and the string itself per
// entry, all in a few large blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

namespace conclave::schedules::detail {

class Interned {
 public:
  // The number of the string, and whether it is new.
  std::pair<std::uint32_t, bool> number(std::string_view bytes) {
    if (2 * (size() + 1) > slots_.size()) grow();
    std::uint32_t& slot = slot_of(bytes);
    if (slot != empty) return {slot, false};
    slot = static_cast<std::uint32_t>(size());
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    ends_.push_back(bytes_.size());
    return {slot, true};
  }

  std::size_t size() const { return ends_.size(); }

 private:
  static constexpr std::uint32_t empty = 0xffffffffu;

  std::string_view at(std::uint32_t number) const {
    const std::size_t begin = number == 0 ? 0 : ends_[number - 1];
    return {bytes_.data() + begin, ends_[number] - begin};
  }

  // Where the string is, or the free place where it belongs.
  std::uint32_t& slot_of(std::string_view bytes) {
    std::size_t place = std::hash<std::string_view>{}(bytes) & (slots_.size() - 1);
    while (slots_[place] != empty && at(slots_[place]) != bytes) {
      place = (place + 1) & (slots_.size() - 1);
    }
    return slots_[place];
  }

  void grow() {
    slots_.assign(std::max<std::size_t>(1024, 2 * slots_.size()), empty);
    for (std::uint32_t i = 0; i < size(); ++i) slot_of(at(i)) = i;
  }

  std::vector<char> bytes_;
  std::vector<std::size_t> ends_;
  std::vector<std::uint32_t> slots_;
};

}  // namespace conclave::schedules::detail
