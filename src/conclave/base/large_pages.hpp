// Memory for large tables that are read at random: in huge pages where the system gives them, since
// most of the time of such a read goes into finding the page.
#pragma once

#ifndef __wasm__
#include <sys/mman.h>
#endif

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace conclave {

inline constexpr std::size_t large_page = std::size_t{2} << 20;

template <class T>
struct LargePages {  // an allocator
  using value_type = T;

  LargePages() = default;
  template <class U>
  LargePages(const LargePages<U>&) {}  // NOLINT: allocators convert

  // Throws std::bad_alloc. Memory of 2 MiB and more is aligned to huge pages.
  T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (!is_large(count)) return static_cast<T*>(::operator new(bytes, small_alignment));
    const std::size_t rounded_up = (bytes + large_page - 1) / large_page * large_page;
    void* const place = ::operator new (rounded_up, std::align_val_t{large_page});
#ifndef __wasm__  // advice only: without huge pages everything works, with more misses
    static_cast<void>(madvise(place, rounded_up, MADV_HUGEPAGE));
#endif
    return static_cast<T*>(place);
  }
  // `count` as it was given to `allocate`.
  void deallocate(T* place, std::size_t count) {
    ::operator delete(place, is_large(count) ? std::align_val_t{large_page} : small_alignment);
  }

  // Plain types are not filled with zeros, which would touch all of the memory twice.
  template <class U>
  void construct(U* place) {
    ::new (static_cast<void*>(place)) U;
  }
  template <class U, class... Parts>
  void construct(U* place, Parts&&... parts) {
    std::construct_at(place, std::forward<Parts>(parts)...);
  }

  friend bool operator==(const LargePages&, const LargePages&) { return true; }

 private:
  static constexpr std::align_val_t small_alignment{alignof(T)};
  static bool is_large(std::size_t count) { return count * sizeof(T) >= large_page; }
};

// An array of zeros, for which the system gives memory only where it is used. T must be a plain
// type of which zero bytes are a value.
template <class T>
class ZeroedArray {
 public:
  explicit ZeroedArray(std::size_t count)
      // NOLINTNEXTLINE(cppcoreguidelines-no-malloc): new would write the zeros
      : size_(count), memory_(std::calloc(count * sizeof(T) + alignment, 1)) {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
    if (memory_ == nullptr) throw std::bad_alloc();
    void* place = memory_;
    std::size_t space = count * sizeof(T) + alignment;
    first_ = static_cast<T*>(std::align(alignment, count * sizeof(T), place, space));
#ifndef __wasm__
    if (is_large()) static_cast<void>(madvise(first_, count * sizeof(T), MADV_HUGEPAGE));
#endif
  }
  ZeroedArray(const ZeroedArray&) = delete;
  ZeroedArray& operator=(const ZeroedArray&) = delete;
  ~ZeroedArray() { std::free(memory_); }  // NOLINT(cppcoreguidelines-no-malloc)

  // Entries; an access out of range is not checked.
  std::size_t size() const { return size_; }
  T& operator[](std::size_t index) { return first_[index]; }
  const T& operator[](std::size_t index) const { return first_[index]; }

 private:
  static constexpr std::size_t page = 4096;
  static constexpr std::size_t alignment = alignof(T) > page ? alignof(T) : page;
  bool is_large() const { return size_ * sizeof(T) >= large_page; }

  std::size_t size_;
  void* memory_;
  T* first_ = nullptr;
};

}  // namespace conclave
