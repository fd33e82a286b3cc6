// Memory for large tables that are read at random: in huge pages where the system gives them, since
// most of the time of such a read goes into finding the page.
#pragma once

#ifndef __wasm__
#include <sys/mman.h>
#endif

#include <cstddef>
#include <new>

namespace conclave::network::detail {

template <class T>
struct LargePages {  // an allocator
  using value_type = T;

  LargePages() = default;
  template <class U>
  LargePages(const LargePages<U>&) {}  // NOLINT: allocators convert

  T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (!is_large(count)) return static_cast<T*>(::operator new(bytes, small_alignment));
    const std::size_t rounded_up = (bytes + huge - 1) / huge * huge;
    void* const place = ::operator new (rounded_up, std::align_val_t{huge});
#ifndef __wasm__  // advice only: without huge pages everything works, with more misses
    static_cast<void>(madvise(place, rounded_up, MADV_HUGEPAGE));
#endif
    return static_cast<T*>(place);
  }
  void deallocate(T* place, std::size_t count) {
    ::operator delete(place, is_large(count) ? std::align_val_t{huge} : small_alignment);
  }

  friend bool operator==(const LargePages&, const LargePages&) { return true; }

 private:
  static constexpr std::size_t huge = std::size_t{2} << 20;
  static constexpr std::align_val_t small_alignment{alignof(T)};
  static bool is_large(std::size_t count) { return count * sizeof(T) >= huge; }
};

}  // namespace conclave::network::detail
