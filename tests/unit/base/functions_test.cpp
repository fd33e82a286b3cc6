// Functions as parameters, and what is sorted by one.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/function_ref.hpp"
#include "conclave/base/small_function.hpp"
#include "conclave/base/sorted_positions.hpp"

namespace conclave::tests {
namespace {

int twice(FunctionRef<int(int)> function, int value) { return function(function(value)); }

TEST(FunctionRef, CallsTheFunctionItIsGivenAndNotACopy) {
  int calls = 0;
  const auto add_three = [&](int value) {
    ++calls;
    return value + 3;
  };
  EXPECT_EQ(twice(add_three, 1), 7);
  EXPECT_EQ(calls, 2);
  const FunctionRef<int(int)> first(add_three);
  const FunctionRef<int(int)> copy = first;  // refers to the function, not to the other reference
  EXPECT_EQ(twice(copy, 0), 6);
}

TEST(FunctionRef, PassesReferencesOn) {
  std::string text = "a";
  const auto append = [](std::string& to, std::string_view what) { to += what; };
  const FunctionRef<void(std::string&, std::string_view)> reference(append);
  reference(text, "bc");
  EXPECT_EQ(text, "abc");
}

TEST(SmallFunction, KeepsCopiesOfItsCaptures) {
  SmallFunction<int(int)> function;
  EXPECT_FALSE(function);
  EXPECT_TRUE(function == nullptr);
  {
    const std::vector<int> offsets{40};
    const int offset = offsets[0];
    function = [offset](int value) { return value + offset; };
  }
  ASSERT_TRUE(function);
  const SmallFunction<int(int)> copy = function;
  function = [](int value) { return -value; };
  EXPECT_EQ(copy(2), 42);
  EXPECT_EQ(function(2), -2);
}

TEST(SortedPositions, AreThoseOfAStableSort) {
  const std::vector<int> values{3, 1, 2, 1, 3, 1};
  const auto positions = sorted_positions(
      values.size(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  EXPECT_EQ(positions, (std::vector<std::size_t>{1, 3, 5, 2, 0, 4}));
  EXPECT_TRUE(sorted_positions(0, [](std::size_t, std::size_t) { return false; }).empty());
}

}  // namespace
}  // namespace conclave::tests
