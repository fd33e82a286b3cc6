#include "conclave/base/interactions.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

#include <gtest/gtest.h>

namespace conclave {
namespace {

constexpr std::uint64_t max64 = std::numeric_limits<std::uint64_t>::max();
constexpr Interactions two_to_64 = Interactions(max64) + 1u;

static_assert(std::is_trivially_copyable_v<Interactions>);
static_assert(std::is_convertible_v<std::uint64_t, Interactions>);
static_assert(std::is_convertible_v<std::uint8_t, Interactions>);
static_assert(!std::is_constructible_v<Interactions, int>);
static_assert(!std::is_constructible_v<Interactions, std::int64_t>);
static_assert(!std::is_constructible_v<Interactions, bool>);
static_assert(!std::is_constructible_v<Interactions, double>);
static_assert(Interactions() == 0u);

TEST(Interactions, PrintAllDecimalDigits) {
  EXPECT_EQ(to_string(Interactions()), "0");
  EXPECT_EQ(to_string(1'000'000u), "1000000");
  EXPECT_EQ(to_string(max64), "18446744073709551615");
  EXPECT_EQ(to_string(Interactions::max()), "340282366920938463463374607431768211455");
}

TEST(Interactions, CarryBeyondSixtyFourBits) {
  Interactions sum = max64;
  sum += 1u;
  EXPECT_EQ(to_string(sum), "18446744073709551616");
  sum -= 1u;
  EXPECT_EQ(to_string(sum), "18446744073709551615");
  EXPECT_EQ(to_string(++sum), "18446744073709551616");
}

TEST(Interactions, MultiplyExactly) {
  EXPECT_EQ(to_string(Interactions(max64) * max64), "340282366920938463426481119284349108225");
  EXPECT_EQ(Interactions(6u) * 7u, 42u);
}

TEST(Interactions, DivideRoundingDown) {
  EXPECT_EQ(Interactions(17u) / 5u, 3u);
  EXPECT_EQ(Interactions(17u) % 5u, 2u);
  EXPECT_EQ(Interactions::max() / two_to_64, max64);
  EXPECT_EQ((two_to_64 + 5u) % two_to_64, 5u);
}

TEST(Interactions, CompareByAllBits) {
  EXPECT_LT(Interactions(max64), two_to_64);
  EXPECT_GT(two_to_64, 1u);
  EXPECT_LT(2u, Interactions(3u));
  EXPECT_NE(two_to_64, 0u);
}

TEST(Interactions, BecomeTheNearestDouble) {
  EXPECT_EQ(Interactions(12u).as_double(), 12.0);
  EXPECT_EQ(two_to_64.as_double(), 0x1p64);
  EXPECT_EQ(Interactions::max().as_double(), 0x1p128);
}

TEST(Interactions, FitSixtyFourBitsOrSaySo) {
  EXPECT_EQ(Interactions(max64).as_uint64(), max64);
  EXPECT_EQ(Interactions().as_uint64(), 0u);
  EXPECT_EQ(two_to_64.as_uint64(), std::nullopt);
}

TEST(InteractionsDeathTest, OverflowIsAFailedCheck) {
  Interactions largest = Interactions::max();
  EXPECT_DEATH(largest += 1u, "internal check failed");
  EXPECT_DEATH(++largest, "internal check failed");
  EXPECT_DEATH(largest * 2u, "internal check failed");
  EXPECT_DEATH(two_to_64 * two_to_64, "internal check failed");
}

TEST(InteractionsDeathTest, UnderflowIsAFailedCheck) {
  EXPECT_DEATH(Interactions(2u) - 3u, "internal check failed");
}

TEST(InteractionsDeathTest, ZeroDivisorIsAFailedCheck) {
  EXPECT_DEATH(Interactions(2u) / 0u, "internal check failed");
  EXPECT_DEATH(Interactions(2u) % 0u, "internal check failed");
}

}  // namespace
}  // namespace conclave
