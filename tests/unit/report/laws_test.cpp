// Fits find the laws that the points were made of, and say so honestly where they were not.
#include "conclave/report/laws.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/error.hpp"

namespace conclave::report {
namespace {

const Law log_n{.name = "log n", .factors = {{"n", 0, 1}}};
const Law log_n_offset{.name = "log n", .factors = {{"n", 0, 1}}, .with_offset = true};
const Law log2_n{.name = "log^2 n", .factors = {{"n", 0, 2}}};
const Law linear{.name = "n", .factors = {{"n", 1, 0}}};
const Law by_groups{.name = "(n/r) log n", .factors = {{"n", 1, 1}, {"r", -1, 0}}};

template <class Value>
std::vector<Point> points(Value value) {
  std::vector<Point> result;
  for (double n = 128; n <= 65536; n *= 2) result.push_back({{{"n", n}}, value(n)});
  return result;
}

TEST(Shapes, AreProductsOfPowersAndLogarithms) {
  EXPECT_DOUBLE_EQ(shape(by_groups, {{"n", 1024}, {"r", 4}}).value(), 2560);
  EXPECT_DOUBLE_EQ(shape({.name = "1"}, {}).value(), 1);
}

TEST(Shapes, NeedAllTheirVariables) {
  EXPECT_FALSE(shape(by_groups, {{"n", 1024}}));
  EXPECT_FALSE(shape(log_n, {{"n", 1}}));  // log 1 = 0 fits nothing
  EXPECT_FALSE(shape(linear, {{"n", -2}}));
}

Law own(const std::string& text, const std::vector<std::string>& variables = {"n"}) {
  return {.name = text, .own = std::make_shared<const OwnLaw>(text, variables)};
}

TEST(OwnLaws, HaveTheConstantsOfWhatTheyAreFittedTo) {
  const auto found = fit(own("a*n*log(n) + b*n + 7"),
                         points([](double n) { return 2.5 * n * std::log(n) - 3 * n + 7; }));
  ASSERT_TRUE(found);
  ASSERT_EQ(found->constants.size(), 2u);
  EXPECT_NEAR(found->constants[0], 2.5, 1e-9);
  EXPECT_NEAR(found->constants[1], -3, 1e-8);
  EXPECT_LT(found->left_out_error, 1e-9);
  EXPECT_NEAR(found->at({{"n", 1000}}).value(), 2500 * std::log(1000.0) - 2993, 1e-6);
  EXPECT_EQ(found->text(), "a*n*log(n) + b*n + 7 with a = 2.5, b = -3");
}

TEST(OwnLaws, FitOnlyWhatTheyHaveConstantsFor) {
  EXPECT_FALSE(fit(own("a*n + b*n"), points([](double n) { return n; })));  // one too many
  const auto wrong = fit(own("a*n"), points([](double n) { return n * n; }));
  ASSERT_TRUE(wrong);
  EXPECT_GT(wrong->left_out_error, 0.5);
}

TEST(OwnLaws, SayWhatTheyDoNotUnderstand) {
  const auto complaint = [](const char* text) -> std::string {
    try {
      own(text, {"n", "c"});
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_NE(complaint("a*m").find("unknown variable 'm'"), std::string::npos);
  EXPECT_NE(complaint("n + c").find("has no constant"), std::string::npos);
  EXPECT_NE(complaint("n^2/a").find("not linear"), std::string::npos);
  EXPECT_NE(complaint("a*n*").find("the law 'a*n*'"), std::string::npos);
  EXPECT_EQ(complaint("a*n/c"), "");
}

TEST(Fits, FindTheConstantOfAnExactLaw) {
  const auto found = fit(log_n, points([](double n) { return 2.5 * std::log2(n); }));
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->scale, 2.5, 1e-12);
  EXPECT_NEAR(found->typical_error, 0, 1e-12);
  EXPECT_EQ(found->text(), "2.5 log n");
}

TEST(Fits, FindBothConstantsOfALawWithAnOffset) {
  const auto found = fit(log_n_offset, points([](double n) { return 3 * std::log2(n) - 7; }));
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->scale, 3, 1e-9);
  EXPECT_NEAR(found->offset, -7, 1e-9);
  EXPECT_EQ(found->text(), "3 log n - 7");
}

TEST(Fits, FindPowersAndExponentials) {
  const auto power =
      fit_free(Fit::Form::power, "n", points([](double n) { return 4 * std::pow(n, 1.5); }));
  ASSERT_TRUE(power);
  EXPECT_NEAR(power->rate, 1.5, 1e-9);
  EXPECT_EQ(power->text(), "4 n^1.500");
  std::vector<Point> grown;
  for (double t = 10; t <= 50; t += 10) grown.push_back({{{"t", t}}, 2 * std::exp(0.25 * t)});
  const auto exponential = fit_free(Fit::Form::exponential, "t", grown);
  ASSERT_TRUE(exponential);
  EXPECT_NEAR(exponential->rate, 0.25, 1e-9);
  EXPECT_EQ(exponential->text(), "2 e^(0.25 t)");
}

TEST(Fits, UseAllVariables) {
  std::vector<Point> both;
  for (const double n : {64.0, 256.0}) {
    for (const double r : {1.0, 4.0, 16.0}) {
      both.push_back({{{"n", n}, {"r", r}}, 16 * n / r * std::log2(n)});
    }
  }
  const auto found = fit(by_groups, both);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->scale, 16, 1e-9);
}

TEST(Fits, CountRelativeErrors) {
  // Half of the points are 10 % above and half 10 % below one law.
  std::vector<Point> shaken;
  for (int i = 0; i < 200; ++i) {
    const double n = std::exp2(5 + i % 10);
    shaken.push_back({{{"n", n}}, n * (i % 2 == 0 ? 1.1 : 0.9)});
  }
  const auto found = fit(linear, shaken);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->typical_error, 0.1, 0.005);
  EXPECT_NEAR(found->worst_error, 0.11, 0.01);
  for (const double ratio : found->ratios) EXPECT_NEAR(ratio, 1, 0.13);
}

TEST(Fits, TellWhetherThePointsOutgrowTheLaw) {
  const auto faster = points([](double n) { return n * std::log2(n); });
  EXPECT_NEAR(fit(linear, faster).value().rise, 16.0 / 7, 1e-9);
  auto downwards = faster;
  std::ranges::reverse(downwards);
  EXPECT_NEAR(fit(linear, downwards).value().rise, 16.0 / 7, 1e-9);
  EXPECT_LT(fit(linear, points([](double n) { return std::sqrt(n); })).value().rise, 0.1);
}

TEST(Fits, ObjectToFewerPointsThanTheyNeed) {
  const std::vector<Point> one{{{{"n", 8}}, 3}};
  EXPECT_FALSE(fit(log_n, one));
  const std::vector<Point> two{{{{"n", 8}}, 3}, {{{"n", 16}}, 4}};
  EXPECT_TRUE(fit(log_n, two));
  EXPECT_FALSE(fit(log_n_offset, two));
  EXPECT_FALSE(fit_free(Fit::Form::power, "n", two));
  EXPECT_FALSE(fit(by_groups, two));  // there is no r
}

TEST(Fits, ObjectWhereAllShapesAreAlike) {
  const std::vector<Point> same(4, Point{{{"n", 8}}, 3});
  EXPECT_FALSE(fit(log_n_offset, same));
  EXPECT_FALSE(fit_free(Fit::Form::power, "n", same));
}

TEST(Fits, TellHowSureARateIs) {
  const auto exact =
      fit_free(Fit::Form::power, "n", points([](double n) { return 4 * std::pow(n, 1.5); }));
  ASSERT_TRUE(exact);
  EXPECT_NEAR(exact->rate_interval.low, 1.5, 1e-6);
  EXPECT_NEAR(exact->rate_interval.high, 1.5, 1e-6);
  // log y = x + (1, -1, -1, 1) / 10 over x = 0, 1, 2, 3: the slope is 1, its standard error
  // sqrt(0.04 / 2 / 5), and Student's quantile with two degrees of freedom 4.302653.
  std::vector<Point> shaken;
  for (int x = 0; x < 4; ++x) {
    const double error = x == 0 || x == 3 ? 0.1 : -0.1;
    shaken.push_back({{{"t", x + 1.0}}, std::exp(x + error)});
  }
  const auto found = fit_free(Fit::Form::exponential, "t", shaken);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->rate, 1, 1e-9);
  EXPECT_NEAR(found->rate_interval.high - 1, 4.302653 * std::sqrt(0.004), 1e-5);
  EXPECT_NEAR(1 - found->rate_interval.low, 4.302653 * std::sqrt(0.004), 1e-5);
}

TEST(Fits, PredictPointsThatAreLeftOut) {
  // Without 8 the constant is 2 by the others; without one of these it is their mean of ratios.
  const std::vector<Point> three{{{{"n", 2}}, 4}, {{{"n", 4}}, 8}, {{{"n", 8}}, 24}};
  const auto found = fit(linear, three);
  ASSERT_TRUE(found);
  const double without_last = 16.0 / 24 - 1;
  const double ratio = (1.0 / 2 + 1.0 / 3) / (1.0 / 4 + 1.0 / 9);  // least squares of 1 = c n / y
  const double without_other = ratio / 2 - 1;
  EXPECT_NEAR(found->left_out_error,
              std::sqrt((without_last * without_last + 2 * without_other * without_other) / 3),
              1e-12);
  EXPECT_TRUE(std::isinf(fit(log_n_offset, three).value().left_out_error));
}

TEST(Comparison, IsNotImpressedByFreedom) {
  // One outlier: the law with two constants comes nearer to the points, and predicts worse.
  std::vector<Point> bent = points([](double n) { return std::log2(n); });
  bent.back().mean *= 1.1;
  const std::vector<Law> laws{log_n_offset, log_n};
  const auto compared = compare_laws(laws, bent);
  ASSERT_EQ(compared.size(), 2U);
  EXPECT_FALSE(compared.front().law.with_offset);
  EXPECT_GT(compared.front().typical_error, compared.back().typical_error);
}

TEST(Comparison, PrefersTheTrueLaw) {
  const std::vector<Law> laws{linear, log_n, log2_n};
  const auto squared =
      compare_laws(laws, points([](double n) { return std::pow(std::log2(n), 2); }));
  ASSERT_EQ(squared.size(), 3U);
  EXPECT_EQ(squared[0].law.name, "log^2 n");
  EXPECT_EQ(squared[1].law.name, "log n");
  EXPECT_EQ(squared[2].law.name, "n");
  EXPECT_GT(squared[1].typical_error, 0.2);
}

TEST(Comparison, GivesNothingForASecondConstant) {
  // The offset cannot help here: its degree of freedom makes the law with one constant better.
  std::vector<Point> shaken;
  for (int i = 0; i < 8; ++i) {
    const double n = std::exp2(6 + i);
    shaken.push_back({{{"n", n}}, std::log2(n) * ((i * 5 + 1) % 3 == 0 ? 1.02 : 0.99)});
  }
  const std::vector<Law> laws{log_n_offset, log_n};
  EXPECT_FALSE(compare_laws(laws, shaken).front().law.with_offset);
}

}  // namespace
}  // namespace conclave::report
