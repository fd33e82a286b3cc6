#include "conclave/population/agent_memory.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <limits>
#include <new>

namespace conclave::population {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

std::size_t round_up(std::size_t bytes) { return (bytes + huge_page - 1) / huge_page * huge_page; }

}  // namespace

std::span<std::byte> AgentMemory::reserve(std::size_t bytes) {
  if (bytes <= usable_.size()) return usable_;
  if (bytes > std::numeric_limits<std::size_t>::max() - 2 * huge_page) throw std::bad_alloc();
  release();
  // A mapping is aligned to 4 KiB only; one huge page more leaves room to align it.
  const std::size_t wanted = round_up(bytes);
  const std::size_t mapped = wanted + huge_page;
  void* const mapping =
      mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  mapping_ = static_cast<std::byte*>(mapping);
  mapped_ = mapped;
  const auto address = reinterpret_cast<std::uintptr_t>(mapping_);
  usable_ = {mapping_ + (round_up(address) - address), wanted};
  // Advice only: without huge pages everything works, with more TLB misses.
  static_cast<void>(madvise(usable_.data(), usable_.size(), MADV_HUGEPAGE));
  return usable_;
}

void AgentMemory::release() {
  if (mapping_ != nullptr) munmap(mapping_, mapped_);
  mapping_ = nullptr;
  mapped_ = 0;
  usable_ = {};
}

}  // namespace conclave::population
