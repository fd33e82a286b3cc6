#include "conclave/population/agent_memory.hpp"

#ifndef __wasm__
#include <sys/mman.h>
#endif

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>

namespace conclave::population {
namespace {

#ifdef __wasm__  // has one piece of memory, without pages to choose

constexpr std::size_t huge_page = 64;

void* map(std::size_t bytes) { return std::malloc(bytes); }
void unmap(void* place, std::size_t) { std::free(place); }
void prefer_huge_pages(std::span<std::byte>) {}

#else

constexpr std::size_t huge_page = std::size_t{2} << 20;

// Null if the system gives none.
void* map(std::size_t bytes) {
  void* const place =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return place != MAP_FAILED ? place : nullptr;
}
void unmap(void* place, std::size_t bytes) { munmap(place, bytes); }
// Advice only: without huge pages everything works, with more TLB misses.
void prefer_huge_pages(std::span<std::byte> memory) {
  static_cast<void>(madvise(memory.data(), memory.size(), MADV_HUGEPAGE));
}

#endif

std::size_t round_up(std::size_t bytes) { return (bytes + huge_page - 1) / huge_page * huge_page; }

}  // namespace

std::span<std::byte> AgentMemory::reserve(std::size_t bytes) {
  if (bytes <= usable_.size()) return usable_;
  if (bytes > std::numeric_limits<std::size_t>::max() - 2 * huge_page) throw std::bad_alloc();
  release();
  // A mapping is aligned to 4 KiB only; one huge page more leaves room to align it.
  const std::size_t wanted = round_up(bytes);
  const std::size_t mapped = wanted + huge_page;
  void* const mapping = map(mapped);
  if (mapping == nullptr) throw std::bad_alloc();
  mapping_ = static_cast<std::byte*>(mapping);
  mapped_ = mapped;
  const auto address = reinterpret_cast<std::uintptr_t>(mapping_);
  usable_ = {mapping_ + (round_up(address) - address), wanted};
  prefer_huge_pages(usable_);
  return usable_;
}

void AgentMemory::release() {
  if (mapping_ != nullptr) unmap(mapping_, mapped_);
  mapping_ = nullptr;
  mapped_ = 0;
  usable_ = {};
}

}  // namespace conclave::population
