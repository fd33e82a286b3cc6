// The bytes of one agent array, kept from trial to trial, in huge pages where the system gives
// them: most of the time of a random access to a large array goes into finding its page.
#pragma once

#include <cstddef>
#include <span>

namespace conclave::population {

// Owns one mapping, which only grows. One engine at a time may use it.
class AgentMemory {
 public:
  AgentMemory() = default;
  AgentMemory(const AgentMemory&) = delete;
  AgentMemory& operator=(const AgentMemory&) = delete;
  ~AgentMemory() { release(); }

  // At least `bytes` bytes, aligned to a cache line, with unspecified contents; what an earlier
  // call returned is invalid. Throws std::bad_alloc.
  std::span<std::byte> reserve(std::size_t bytes);

 private:
  void release();

  std::byte* mapping_ = nullptr;
  std::size_t mapped_ = 0;
  std::span<std::byte> usable_;
};

}  // namespace conclave::population
