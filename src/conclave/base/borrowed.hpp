// A view of memory that is owned elsewhere, with those functions of a vector that tallies use.
// Tallies hold one in place of a vector when trials run on a device.
#pragma once

#include <cstddef>

namespace conclave {

// Neither owns nor clears the memory, which must outlive it. As cheap to copy as a pointer; usable
// on devices.
template <class T>
class Borrowed {
 public:
  // `count` values from `first` on.
  constexpr Borrowed(T* first, std::size_t count) : first_(first), count_(count) {}

  constexpr std::size_t size() const { return count_; }
  constexpr T& operator[](std::size_t i) { return first_[i]; }
  constexpr const T& operator[](std::size_t i) const { return first_[i]; }

 private:
  T* first_;
  std::size_t count_;
};

}  // namespace conclave
