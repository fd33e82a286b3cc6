#include "conclave/base/numbers.hpp"

#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace conclave {
namespace {

// The parsed count in decimal, or "nothing"; readable on both sides of a failed comparison.
std::string read(std::string_view text) {
  const auto count = parse_count(text);
  return count ? to_string(*count) : "nothing";
}

TEST(ParseCount, ReadsPlainDigits) {
  EXPECT_EQ(read("0"), "0");
  EXPECT_EQ(read("1000000"), "1000000");
  EXPECT_EQ(read("007"), "7");
}

TEST(ParseCount, ReadsScientificNotationExactly) {
  EXPECT_EQ(read("1e6"), "1000000");
  EXPECT_EQ(read("0e0"), "0");
  EXPECT_EQ(read("1.5e6"), "1500000");
  EXPECT_EQ(read("1.50e1"), "15");
  EXPECT_EQ(read("2.000e0"), "2");
  EXPECT_EQ(read("0.001e3"), "1");
  // By way of a double, this would be 1234567890123456824475648.
  EXPECT_EQ(read("1.234567890123456789012345e24"), "1234567890123456789012345");
}

TEST(ParseCount, ReadsPowers) {
  EXPECT_EQ(read("2^20"), "1048576");
  EXPECT_EQ(read("10^6"), "1000000");
  EXPECT_EQ(read("3^80"), "147808829414345923316083210206383297601");
  EXPECT_EQ(read("7^0"), "1");
  EXPECT_EQ(read("0^0"), "1");
}

TEST(ParseCount, KnowsTheLimitOf128Bits) {
  EXPECT_EQ(read("340282366920938463463374607431768211455"), to_string(Interactions::max()));
  EXPECT_EQ(read("340282366920938463463374607431768211456"), "nothing");
  EXPECT_EQ(read("1000000000000000000000000000000000000000"), "nothing");
  EXPECT_EQ(read("2^127"), "170141183460469231731687303715884105728");
  EXPECT_EQ(read("2^128"), "nothing");
  EXPECT_EQ(read("3^81"), "nothing");
  EXPECT_EQ(read("340282366920938463463374607431768211455^1"), to_string(Interactions::max()));
  EXPECT_EQ(read("3.4e38"), "340000000000000000000000000000000000000");
  EXPECT_EQ(read("3.5e38"), "nothing");
  EXPECT_EQ(read("1e39"), "nothing");
}

// Each of these would run for ages if the exponent were simply counted down.
TEST(ParseCount, EndsSoonOnHugeExponents) {
  EXPECT_EQ(read("1^99999999999999999999"), "1");
  EXPECT_EQ(read("0^99999999999999999999"), "0");
  EXPECT_EQ(read("0e99999999999999999999"), "0");
  EXPECT_EQ(read("2^99999999999999999999"), "nothing");
}

TEST(ParseCount, RefusesWhatIsNoInteger) {
  EXPECT_EQ(read("1e-3"), "nothing");
  EXPECT_EQ(read("1.23e1"), "nothing");
  EXPECT_EQ(read("0.5e0"), "nothing");
  EXPECT_EQ(read("1.5"), "nothing");
}

TEST(ParseCount, RefusesEveryOtherText) {
  for (const char* text :
       {"",   " ",    "-1",   "+1",    " 1",    "1 ",     "1_000", "1'000",  "0x10", "1e",
        "e6", "1E6",  "1e+6", "1.e6",  ".5e6",  "1..5e6", "1e6e1", "1.x0e3", "^",    "2^",
        "^2", "2^-1", "2^^2", "2^2^2", "2^1e1", "1.5^2",  "1.0",   "inf",    "nan",  "12a"}) {
    EXPECT_EQ(read(text), "nothing") << '"' << text << '"';
  }
  EXPECT_EQ(read(std::string_view("1\0", 2)), "nothing");
}

TEST(ParseFraction, KeepsEveryDigit) {
  const auto is = [](std::uint64_t above, std::uint64_t below) { return Fraction{above, below}; };
  EXPECT_EQ(parse_fraction("50"), is(50, 1));
  EXPECT_EQ(parse_fraction("0.3"), is(3, 10));
  EXPECT_EQ(parse_fraction("2.50"), is(5, 2));
  EXPECT_EQ(parse_fraction("12.5e1"), is(125, 1));
  EXPECT_EQ(parse_fraction("1.25e1"), is(25, 2));
  EXPECT_EQ(parse_fraction("5e-3"), is(1, 200));
  EXPECT_EQ(parse_fraction("2^10"), is(1024, 1));
  EXPECT_EQ(parse_fraction("6/4"), is(3, 2));
  EXPECT_EQ(parse_fraction("0.0"), is(0, 1));
}

TEST(ParseFraction, RefusesOtherTexts) {
  for (const char* text : {"", "-1", ".5", "1.", "1/0", "1/", "/2", "1.2.3", "1e", "1e--3", "x",
                           "1e-30", "0.1/2", "1.5e+2"}) {
    EXPECT_EQ(parse_fraction(text), std::nullopt) << '"' << text << '"';
  }
}

TEST(ParseReal, ReadsDecimalNumbers) {
  EXPECT_EQ(parse_real("0.25"), 0.25);
  EXPECT_EQ(parse_real("-3"), -3.0);
  EXPECT_EQ(parse_real("1e-3"), 1e-3);
  EXPECT_EQ(parse_real("1.5E6"), 1.5e6);
}

TEST(ParseReal, ReadsPowers) {
  EXPECT_EQ(parse_real("2^20"), 1048576.0);
  EXPECT_EQ(parse_real("2^"), std::nullopt);
}

TEST(ParseReal, RefusesWhatIsNotOneFiniteNumber) {
  for (const char* text : {"", " 1", "1 ", "+1", "1,5", "0x10", "1e", "inf", "-inf", "nan", "1e999",
                           "1.2.3", "2^-1", "one"}) {
    EXPECT_EQ(parse_real(text), std::nullopt) << '"' << text << '"';
  }
}

}  // namespace
}  // namespace conclave
