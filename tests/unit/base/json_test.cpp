#include "conclave/base/json.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace conclave {
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

TEST(ParsedJson, KeepsTheDigitsOfTheText) {
  const auto json = Json::parse(R"({"a":{"b":[1,{"c":0.10000000000000000000001}]},"d":null,"e":"1",
                                    "f":true,"g":36893488147419103232})");
  ASSERT_TRUE(json);
  std::string all;
  for (const auto& [path, value] : json->leaves()) all += path + '=' + value + ' ';
  EXPECT_EQ(all, "a.b.0=1 a.b.1.c=0.10000000000000000000001 d= e=1 f=true g=36893488147419103232 ");
}

TEST(ParsedJson, HasValuesOfTheirTypes) {
  const auto json = Json::parse(R"({"count":18446744073709551615,"real":-2.5,"flag":false,
                                    "text":"1","list":[1,2],"large":1e30})");
  ASSERT_TRUE(json);
  EXPECT_EQ(json->find("count")->count(), UINT64_MAX);
  EXPECT_EQ(json->find("real")->real(), -2.5);
  EXPECT_EQ(json->find("flag")->flag(), false);
  EXPECT_EQ(json->find("list")->items().size(), 2u);
  EXPECT_FALSE(json->find("text")->count());
  EXPECT_FALSE(json->find("text")->flag());
  EXPECT_FALSE(json->find("large")->count());
  EXPECT_EQ(json->find("large")->real(), 1e30);
  EXPECT_EQ(json->find("nothing"), nullptr);
  EXPECT_EQ(json->find("text")->find("inside"), nullptr);
}

TEST(ParsedJson, ReadsWhatIsDumped) {
  const Json json{
      {"a", std::vector<int>{1, -2}}, {"b", {{"c", "x\n"}, {"d", Json()}}}, {"e", true}};
  EXPECT_EQ(Json::parse(json.dump()), json);
  EXPECT_EQ(Json::parse("[0.1]")->dump(), "[0.1]");
}

TEST(ParsedJson, FindsTheFirstOfEqualNames) {
  EXPECT_EQ(Json::parse(R"({"a":1,"a":2})")->find("a")->count(), 1u);
}

TEST(ParsedJson, RefusesWhatIsNoJson) {
  for (const std::string_view text : {"", "{", "{\"a\":}", "{} {}", "{\"a\":1,}", "1e999"}) {
    EXPECT_FALSE(Json::parse(text)) << text;
  }
}

TEST(ParsedJson, RefusesWhatNestsTooDeep) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(Json::parse(nested(64)));
  EXPECT_FALSE(Json::parse(nested(65)));
  EXPECT_FALSE(Json::parse(nested(1'000'000)));
}

}  // namespace
}  // namespace conclave
