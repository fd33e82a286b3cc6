#include "conclave/experiment/json.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace conclave::experiment {
namespace {

TEST(Json, KeepsTheOrderOfMembers) {
  Json json{{"z", 1}, {"a", "text"}, {"inner", {{"b", true}, {"a", Json()}}}};
  json["z"] = 2;
  json["last"] = std::vector<std::string_view>{"x", "y"};
  EXPECT_EQ(json.dump(), R"({"z":2,"a":"text","inner":{"b":true,"a":null},"last":["x","y"]})");
}

TEST(Json, KeepsEveryBitOfNumbers) {
  Json json = Json::array();
  json.push_back(UINT64_MAX);
  json.push_back(INT64_MIN);
  json.push_back(0.1);
  json.push_back(2.0);
  json.push_back(std::numeric_limits<double>::infinity());
  EXPECT_EQ(json.dump(), "[18446744073709551615,-9223372036854775808,0.1,2.0,null]");
}

TEST(Json, AnEmptyObjectIsNoArray) {
  EXPECT_EQ(Json::object().dump(), "{}");
  EXPECT_EQ(Json::array().dump(), "[]");
  EXPECT_EQ(Json().dump(), "null");
}

TEST(Json, IndentsEachLevel) {
  EXPECT_EQ(Json({{"a", std::vector<double>{1}}}).dump(2), "{\n  \"a\": [\n    1.0\n  ]\n}");
}

TEST(Json, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(json_string("a\xff\"\n"), "\"a\xEF\xBF\xBD\\\"\\n\"");
  EXPECT_EQ(Json("a\xff").dump(), "\"a\xEF\xBF\xBD\"");
  EXPECT_EQ(Json("a\xff").dump(-1, Json::Encoding::ascii), R"("a\ufffd")");
}

TEST(Json, EqualNumbersAreEqualWhateverTheirType) {
  EXPECT_EQ(Json(std::uint64_t{0}), Json(0));
  EXPECT_NE(Json(0), Json(0.0));
}

TEST(JsonLeaves, HaveTheirPathsAndTheDigitsOfTheText) {
  const auto leaves =
      json_leaves(R"({"a":{"b":[1,{"c":0.10000000000000000000001}]},"d":null,"e":"1","f":true})");
  ASSERT_TRUE(leaves);
  std::string all;
  for (const JsonLeaf& leaf : *leaves) {
    all += leaf.path + '=' + leaf.value + (leaf.is_string ? "s " : " ");
  }
  EXPECT_EQ(all, "a.b.0=1 a.b.1.c=0.10000000000000000000001 d= e=1s f=true ");
}

TEST(JsonLeaves, RefusesWhatIsNoObjectOrArray) {
  for (const std::string_view text : {"", "1", "\"a\"", "{", "{\"a\":}", "{} {}", "{\"a\":1,}"}) {
    EXPECT_FALSE(json_leaves(text)) << text;
  }
}

TEST(JsonLeaves, RefusesWhatNestsTooDeep) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(json_leaves(nested(64)));
  EXPECT_FALSE(json_leaves(nested(65)));
  EXPECT_FALSE(json_leaves(nested(1'000'000)));
}

}  // namespace
}  // namespace conclave::experiment
