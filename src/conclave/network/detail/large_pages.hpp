// Memory for large tables that are read at random: in huge pages where the system gives them, since
// most of the time of such a read goes into finding the page.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>

namespace conclave::network::detail {

template <class T>
struct LargePages {  // an allocator
  using value_type = T;

  LargePages() = default;
  template <class U>
  LargePages(const LargePages<U>&) {}  // NOLINT: allocators convert

  // NOLINTBEGIN(cppcoreguidelines-no-malloc): this is the allocator that containers ask.
  T* allocate(std::size_t count) {
    const std::size_t bytes = (count * sizeof(T) + huge - 1) / huge * huge;
    const bool is_large = count * sizeof(T) >= huge;
    void* const place = is_large ? std::aligned_alloc(huge, bytes) : std::malloc(count * sizeof(T));
    if (place == nullptr) throw std::bad_alloc();
    // Advice only: without huge pages everything works, with more misses.
    if (is_large) static_cast<void>(madvise(place, bytes, MADV_HUGEPAGE));
    return static_cast<T*>(place);
  }
  void deallocate(T* place, std::size_t) { std::free(place); }
  // NOLINTEND(cppcoreguidelines-no-malloc)

  friend bool operator==(const LargePages&, const LargePages&) { return true; }

 private:
  static constexpr std::size_t huge = std::size_t{2} << 20;
};

}  // namespace conclave::network::detail
