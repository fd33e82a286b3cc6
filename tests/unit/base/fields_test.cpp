#include "conclave/base/fields.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

// Not in an unnamed namespace, where Clang warns of members that only a concept looks at.
namespace conclave::fields_test {

enum class Color : std::uint8_t { red, green = 7 };

struct Sample {
  bool leader = true;
  std::uint8_t letter = 65;
  std::int16_t level = -3;
  std::uint64_t epoch = 1'000'000'000'000;
  Color color = Color::green;
  friend bool operator==(const Sample&, const Sample&) = default;
  static constexpr std::tuple fields{Field{"leader", &Sample::leader},
                                     Field{"letter", &Sample::letter},
                                     Field{"level", &Sample::level}, Field{"epoch", &Sample::epoch},
                                     Field{"color", &Sample::color}};
};
static_assert(Described<Sample>);

struct Single {
  std::int64_t value = 0;
  friend bool operator==(const Single&, const Single&) = default;
  static constexpr std::tuple fields{Field{"value", &Single::value}};
};
static_assert(Described<Single>);

struct Nothing {
  friend bool operator==(const Nothing&, const Nothing&) = default;
  static constexpr std::tuple<> fields{};
};
static_assert(Described<Nothing>);

struct NotListed {
  int value = 0;
  friend bool operator==(const NotListed&, const NotListed&) = default;
};
static_assert(!Described<NotListed>);

struct NotComparable {
  int value = 0;
  static constexpr std::tuple fields{Field{"value", &NotComparable::value}};
};
static_assert(!Described<NotComparable>);

struct NotTrivial {
  std::string value;
  friend bool operator==(const NotTrivial&, const NotTrivial&) = default;
  static constexpr std::tuple fields{Field{"value", &NotTrivial::value}};
};
static_assert(!Described<NotTrivial>);

TEST(Fields, ToTextNamesEveryFieldInOrder) {
  EXPECT_EQ(to_text(Sample{}), "leader=1 letter=65 level=-3 epoch=1000000000000 color=7");
}

TEST(Fields, ToTextOfOneField) {
  EXPECT_EQ(to_text(Single{0}), "value=0");
  EXPECT_EQ(to_text(Single{std::numeric_limits<std::int64_t>::min()}),
            "value=-9223372036854775808");
  EXPECT_EQ(to_text(Single{std::numeric_limits<std::int64_t>::max()}), "value=9223372036854775807");
}

TEST(Fields, ToTextOfNothingIsEmpty) { EXPECT_EQ(to_text(Nothing{}), ""); }

TEST(Fields, FromTextReadsWhatToTextWrites) {
  EXPECT_EQ(from_text<Sample>(to_text(Sample{})), Sample{});
  EXPECT_EQ(from_text<Single>("value=-9223372036854775808"),
            Single{std::numeric_limits<std::int64_t>::min()});
  EXPECT_EQ(from_text<Nothing>(""), Nothing{});
}

TEST(Fields, FromTextRefusesEverythingElse) {
  for (const char* text :
       {"", "leader=2 letter=65 level=-3 epoch=1 color=7", "leader=1 letter=65 level=-3 epoch=1",
        "letter=65 leader=1 level=-3 epoch=1 color=7", "leader=1 letter=65 level=-3 epoch=1 color=",
        "leader=1 letter=65 level=-3 epoch=1 color=7 ",
        "leader=1 letter=65 level=-3 epoch=1 color=x",
        "leader=1  letter=65 level=-3 epoch=1 color=7",
        "leader=1 letter=6553665 level=-3 epoch=1 color=7",
        " leader=1 letter=65 level=-3 epoch=1 color=7", "leader"}) {
    EXPECT_EQ(from_text<Sample>(text), std::nullopt) << text;
  }
}

TEST(Fields, GiveAccessToTheMembers) {
  Sample sample;
  sample.*std::get<1>(Sample::fields).member = 66;
  EXPECT_EQ(sample.letter, 66);
  EXPECT_EQ(std::get<1>(Sample::fields).name, "letter");
}

}  // namespace conclave::fields_test
