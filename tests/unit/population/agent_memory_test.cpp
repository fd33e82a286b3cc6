#include "conclave/population/agent_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <span>
#include <type_traits>

#include <gtest/gtest.h>

namespace conclave::population {
namespace {

static_assert(!std::is_copy_constructible_v<AgentMemory>);
static_assert(!std::is_move_constructible_v<AgentMemory>);

constexpr std::size_t mebibyte = std::size_t{1} << 20;
constexpr std::size_t most = std::numeric_limits<std::size_t>::max();

bool is_cache_aligned(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % 64 == 0;
}

TEST(AgentMemory, IsAlignedLargeEnoughAndWritable) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{63}, std::size_t{4096},
                                  2 * mebibyte - 1, 2 * mebibyte, 2 * mebibyte + 1}) {
    AgentMemory memory;
    const std::span<std::byte> span = memory.reserve(bytes);
    ASSERT_GE(span.size(), bytes);
    EXPECT_TRUE(is_cache_aligned(span.data()));
    std::ranges::fill(span, std::byte{0xa5});
    EXPECT_TRUE(std::ranges::all_of(span, [](std::byte b) { return b == std::byte{0xa5}; }));
  }
}

TEST(AgentMemory, Grows) {
  AgentMemory memory;
  for (std::size_t bytes = 1; bytes <= 16 * mebibyte; bytes *= 4) {
    const std::span<std::byte> span = memory.reserve(bytes);
    ASSERT_GE(span.size(), bytes);
    EXPECT_TRUE(is_cache_aligned(span.data()));
    span.front() = std::byte{1};
    span.back() = std::byte{2};
  }
}

TEST(AgentMemory, IsReusedWhenLargeEnough) {
  AgentMemory memory;
  const std::span<std::byte> large = memory.reserve(4 * mebibyte);
  large[12345] = std::byte{42};
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, mebibyte, 4 * mebibyte}) {
    const std::span<std::byte> again = memory.reserve(bytes);
    EXPECT_EQ(again.data(), large.data());
    EXPECT_EQ(again.size(), large.size());
    EXPECT_EQ(again[12345], std::byte{42});
  }
}

TEST(AgentMemory, GivesNothingForNothing) {
  AgentMemory memory;
  EXPECT_TRUE(memory.reserve(0).empty());
}

TEST(AgentMemory, ThrowsForWhatNoMachineHas) {
  AgentMemory memory;
  for (const std::size_t bytes :
       {most / 16, most / 2, most - 4 * mebibyte, most - 2 * mebibyte, most - mebibyte, most}) {
    EXPECT_THROW(memory.reserve(bytes), std::bad_alloc) << bytes << " bytes";
  }
}

TEST(AgentMemory, WorksAgainAfterAFailure) {
  AgentMemory memory;
  memory.reserve(mebibyte);
  EXPECT_THROW(memory.reserve(most / 16), std::bad_alloc);
  const std::span<std::byte> span = memory.reserve(mebibyte);
  ASSERT_GE(span.size(), mebibyte);
  span.back() = std::byte{1};
}

}  // namespace
}  // namespace conclave::population
