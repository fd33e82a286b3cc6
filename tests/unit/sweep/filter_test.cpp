#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/error.hpp"
#include "conclave/sweep/row_fields.hpp"
#include "conclave/sweep/selection.hpp"

#include "tests/unit/sweep/sweep_folder.hpp"

namespace conclave::sweep {
namespace {

class Selection : public testing_support::SweepFolder {
 protected:
  void SetUp() override {
    SweepFolder::SetUp();
    const Plan two = plan();
    store(two, 0, {0, 1, 2});
    store(two, 1, {0, 1, 2, 3});
  }
  std::size_t count(const std::vector<std::string>& conditions) const {
    const Results results(path("results.db"));
    std::size_t rows = 0;
    for_each_row(results, Filter(conditions, results), [&](const PlacedRow&) { ++rows; });
    return rows;
  }
};

TEST_F(Selection, ComparesNumbersAsNumbers) {
  EXPECT_EQ(count({}), 7u);
  EXPECT_EQ(count({"n=10"}), 3u);
  EXPECT_EQ(count({"n=1e1"}), 3u);
  EXPECT_EQ(count({"n!=10"}), 4u);
  EXPECT_EQ(count({"n>9"}), 7u);
  EXPECT_EQ(count({"n>=20", "trial<2"}), 2u);
  EXPECT_EQ(count({"trial<=2"}), 6u);
}

TEST_F(Selection, KnowsPlacesAndWords) {
  EXPECT_EQ(count({"row=3"}), 1u);
  EXPECT_EQ(count({"cell=1"}), 4u);
  EXPECT_EQ(count({"protocol=fratricide"}), 7u);
  EXPECT_EQ(count({"protocol=pll"}), 0u);
  EXPECT_EQ(count({"converged=true"}), 7u);
  EXPECT_EQ(count({"protocol>5"}), 0u);
}

TEST_F(Selection, RefusesWhatIsNoCondition) {
  for (const char* text : {"", "n", "=5", "nn=5", "n~5", "n>", "n= ", "n>few"})
    EXPECT_THROW(count({text}), Error) << text;
}

TEST_F(Selection, IsWrittenAsCsvWithOneHeader) {
  const Results results(path("results.db"));
  std::string text;
  write_csv(results, Filter({"n=10"}, results), [&](std::string_view piece) { text += piece; });
  EXPECT_EQ(text.substr(0, 30), "row,cell,protocol,engine,n,ini");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
}

TEST(RowFields, AreFlatAndKeepEveryDigit) {
  const Fields fields =
      fields_of(R"({"n":10,"params":{"m":2.50},"faults":[{"x":true}],"none":null,)"
                R"("big":340282366920938463463374607431768211455})");
  EXPECT_EQ(field(fields, "params.m"), "2.50");
  EXPECT_EQ(field(fields, "faults.0.x"), "true");
  EXPECT_EQ(field(fields, "big"), "340282366920938463463374607431768211455");
  EXPECT_EQ(field(fields, "none"), "");
  EXPECT_EQ(field(fields, "nothing"), std::nullopt);
  EXPECT_EQ(number_field(fields, "n"), 10);
}

TEST(RowFields, RefuseWhatIsNoRow) {
  for (const std::string& text :
       {std::string(), std::string("5"), std::string("{"), std::string("{\"a\":1}x"),
        std::string("{\"a\":\"\xff\"}"),
        "{\"a\":" + std::string(100, '[') + std::string(100, ']') + "}"}) {
    EXPECT_THROW(fields_of(text), std::runtime_error) << text;
  }
}

TEST(RunTextInJson, ReadBackAsTheSame) {
  const experiment::RunText words{.protocol = "pll",
                                  .n = "10",
                                  .seed = "7",
                                  .params = {"m=3"},
                                  .faults = {"corrupt:1@2"},
                                  .count_edges = true};
  EXPECT_EQ(words_of(json_of(words)), words);
  EXPECT_EQ(json_of(words),
            R"({"protocol":"pll","n":"10","seed":"7","params":["m=3"],"faults":["corrupt:1@2"],)"
            R"("count_edges":true})");
  const Sampling sampling{.trials = 9, .precision = 0.5, .batch = 3, .measure = "time"};
  EXPECT_EQ(sampling_of(json_of(sampling)), sampling);
  EXPECT_THROW(words_of("{\"n\":5}"), std::runtime_error);
  EXPECT_THROW(words_of("[]"), std::runtime_error);
  EXPECT_THROW(words_of(R"({"n":"5","count_edges":1})"), std::runtime_error);
  EXPECT_THROW(words_of(R"({"n":"5","params":"m=3"})"), std::runtime_error);
  EXPECT_THROW(sampling_of("{\"trials\":\"x\"}"), std::runtime_error);
}

}  // namespace
}  // namespace conclave::sweep
