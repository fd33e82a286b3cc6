// The bytes of one agent array, kept from trial to trial, in huge pages where the system gives
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>

#include "conclave/base/large_pages.hpp"
#include "conclave/base/team.hpp"

namespace conclave::population {

// Owns one piece of memory, which only grows. One engine at a time may use it, and with it the team
// of threads that has been lent, if any, which must outlive the engine.
class AgentMemory {
 public:
  AgentMemory() = default;
  AgentMemory(const AgentMemory&) = delete;
  AgentMemory& operator=(const AgentMemory&) = delete;
  ~AgentMemory() { release(); }

  // At least `bytes` bytes, aligned to a cache line, with unspecified contents; what an earlier
  // call returned is invalid. O(1) but for what the system does. Throws std::bad_alloc.
  std::span<std::byte> reserve(std::size_t bytes) {
    if (bytes > most_bytes) throw std::bad_alloc();
    const std::size_t lines = (bytes + sizeof(Line) - 1) / sizeof(Line);
    if (lines > lines_) {
      release();
      first_ = LargePages<Line>().allocate(lines);
      lines_ = lines;
    }
    return {reinterpret_cast<std::byte*>(first_), lines_ * sizeof(Line)};
  }

  // For engines that spread the work of one trial; null: none. The team must outlive its use.
  void lend(Team* team) { team_ = team; }
  Team* team() const { return team_; }

 private:
  // The address space of a process: 2^47 bytes where addresses have 64 bits. More is refused here,
  // since sanitizers would end the program.
  static constexpr std::size_t most_bytes =
      sizeof(std::size_t) < 8 ? PTRDIFF_MAX : static_cast<std::size_t>(PTRDIFF_MAX) >> 16;

  struct alignas(64) Line {
    std::byte bytes[64];
  };

  void release() {
    if (first_ != nullptr) LargePages<Line>().deallocate(first_, lines_);
    first_ = nullptr;
    lines_ = 0;
  }

  Team* team_ = nullptr;
  Line* first_ = nullptr;
  std::size_t lines_ = 0;
};

}  // namespace conclave::population
