#include "conclave/base/join_parts.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace conclave {
namespace {

TEST(JoinParts, HasSeparatorsBetweenParts) {
  EXPECT_EQ(join_parts(std::vector<std::string>{}, ", "), "");
  EXPECT_EQ(join_parts(std::vector<std::string>{"a"}, ", "), "a");
  EXPECT_EQ(join_parts(std::vector<std::string>{"a", "", "c"}, ", "), "a, , c");
  EXPECT_EQ(join_parts(std::array<std::string_view, 2>{"x", "y"}, ""), "xy");
}

TEST(JoinParts, WritesNumbersInFull) {
  EXPECT_EQ(join_parts(std::vector<std::uint32_t>{0, 4294967295}, " "), "0 4294967295");
  EXPECT_EQ(join_parts(std::vector<std::uint64_t>{18446744073709551615U, 7}, ","),
            "18446744073709551615,7");
  EXPECT_EQ(join_parts(std::vector<double>{0.1, 3, 1e300}, " "), "0.1 3 1e+300");
}

}  // namespace
}  // namespace conclave
