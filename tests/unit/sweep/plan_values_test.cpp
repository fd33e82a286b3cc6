#include "conclave/sweep/plan_values.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/toml.hpp"

namespace conclave::sweep {
namespace {

using Texts = std::vector<std::string>;

Texts texts(const std::vector<Value>& values) {
  Texts result;
  for (const Value& value : values) result.push_back(value.text);
  return result;
}

Texts read(const std::string& value) {
  const toml::table table = toml::parse("x = " + value);
  return texts(alternatives(*table.get("x")));
}

TEST(PlanValues, AreNumbersWordsAndLists) {
  EXPECT_EQ(read("5"), Texts{"5"});
  EXPECT_EQ(read("\"2^20\""), Texts{"2^20"});
  EXPECT_EQ(read("true"), Texts{"true"});
  EXPECT_EQ(read("[1, [2, 3], \"a\"]"), (Texts{"1", "2", "3", "a"}));
  EXPECT_THROW(read("[]"), ValueError);
  EXPECT_THROW(read("\"\""), ValueError);
  EXPECT_THROW(read("[\"a\", \"\"]"), ValueError);
  EXPECT_THROW(read("1979-05-27"), ValueError);
}

TEST(PlanValues, TakeFloatsAtTheirShortestDecimal) {
  EXPECT_EQ(read("[1e3, 1e15, 1e16, 1.5e17, 1e23]"),
            (Texts{"1000", "1000000000000000", "10000000000000000", "150000000000000000",
                   "100000000000000000000000"}));
  EXPECT_EQ(read("[0.25, 1e-3, -2.5]"), (Texts{"0.25", "0.001", "-2.5"}));
}

TEST(Range, HasBothEnds) {
  EXPECT_EQ(read("{from=2, to=8, step=3}"), (Texts{"2", "5", "8"}));
  EXPECT_EQ(read("{from=10, to=1000, factor=10}"), (Texts{"10", "100", "1000"}));
  EXPECT_EQ(read("{from=0.5, to=1, step=0.25}"), (Texts{"0.5", "0.75", "1"}));
  EXPECT_EQ(read("{from=1, to=8, factor=1.5}"), (Texts{"1", "2", "3", "5", "7"}));
}

TEST(Range, OfRootsReachesItsEnd) {
  EXPECT_EQ(read("{from=100, to=1e4, factor=\"sqrt(10)\"}"),
            (Texts{"100", "316", "1000", "3162", "10000"}));
  EXPECT_EQ(read("{from=1, to=64, factor=\"sqrt(2)\"}").back(), "64");
}

TEST(Range, GoesOnWhereFractionsEnd) {
  const Texts all = read("{from=100, to=1e6, factor=1.1}");
  ASSERT_EQ(all.size(), 97u);
  EXPECT_EQ(all[1], "110");
  EXPECT_EQ(all[60], "30448");  // 100 * 1.1^60 = 30448.16...
  EXPECT_EQ(all.back(), "941234");
}

TEST(Range, OfPowersOfTwoIsExact) {
  EXPECT_EQ(read("{from=1, to=\"2^62\", factor=2}").back(), "4611686018427387904");
}

TEST(Range, RefusesWhatMakesNoSense) {
  for (const char* text :
       {"{from=1, to=5}", "{from=1, to=5, step=1, factor=2}", "{from=5, to=1, step=1}",
        "{from=1, to=5, step=0}", "{from=1, to=5, factor=1}", "{from=0, to=5, factor=2}",
        "{from=1, to=5, stepp=1}", "{from=1, to=1e9, step=1}",
        "{from=1, to=2, factor=1.0000000000001}"}) {
    EXPECT_THROW(read(text), ValueError) << text;
  }
}

TEST(PlanExpression, KnowsItsConstants) {
  const text::Constants constants{{"n", text::Number(10)}};
  const auto value = [&](const char* text, Rounding rounding = Rounding::down) {
    return evaluated({text, 1}, constants, rounding);
  };
  EXPECT_EQ(value("4*n"), "40");
  EXPECT_EQ(value("n/4"), "2");
  EXPECT_EQ(value("n/4", Rounding::none), "2.5");
  EXPECT_EQ(value("ceil(lg(n))"), "4");
  EXPECT_EQ(value("printed"), "printed");
  EXPECT_EQ(value("1e3"), "1e3");
  EXPECT_THROW(value("4*m"), ValueError);
  EXPECT_THROW(value("n/0"), ValueError);
}

TEST(Faults, AreOneListOrSeveral) {
  const auto count = [](const std::string& text) {
    const toml::table table = toml::parse("x = " + text);
    return list_alternatives(*table.get("x")).size();
  };
  EXPECT_EQ(count("\"a\""), 1u);
  EXPECT_EQ(count("[\"a\", \"b\"]"), 1u);
  EXPECT_EQ(count("[[], [\"a\"]]"), 2u);
}

TEST(DeepNesting, IsFoundBeforeTheLibrarySeesIt) {
  const auto repeated = [](const std::string& part, int times) {
    std::string text;
    for (int i = 0; i < times; ++i) text += part;
    return text;
  };
  EXPECT_EQ(line_of_deep_nesting("a.b.c = 1.5\n[x.y]\nn = [[1.5, 2.5], [3]]\n"), 0u);
  EXPECT_EQ(line_of_deep_nesting("\n" + repeated("a.", 50000) + "a = 1"), 2u);
  EXPECT_EQ(line_of_deep_nesting("x = " + repeated("[", 100)), 1u);
  EXPECT_EQ(line_of_deep_nesting("x = " + repeated("{a=", 100)), 1u);
  EXPECT_EQ(line_of_deep_nesting(repeated("\"q\" . ", 50) + "q = 1"), 1u);
  EXPECT_EQ(line_of_deep_nesting("n = [" + repeated("1.5, ", 100) + "]"), 0u);
}

TEST(DeepNesting, IsNotSeenInStringsAndComments) {
  const std::string dots(100, '.');
  EXPECT_EQ(line_of_deep_nesting("# " + dots), 0u);
  EXPECT_EQ(line_of_deep_nesting("a = \"" + dots + "\""), 0u);
  EXPECT_EQ(line_of_deep_nesting("a = '" + dots + "'"), 0u);
  EXPECT_EQ(line_of_deep_nesting("a = \"\"\"\n" + dots + "\n\"\"\""), 0u);
  EXPECT_EQ(line_of_deep_nesting("a = \"\\\"" + dots + "\""), 0u);
  EXPECT_EQ(line_of_deep_nesting("a = '\n" + dots), 2u);  // a string that does not end
}

}  // namespace
}  // namespace conclave::sweep
