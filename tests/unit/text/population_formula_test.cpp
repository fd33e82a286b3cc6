#include "conclave/text/population_formula.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/error.hpp"

namespace conclave::text {
namespace {

const std::vector<FormulaField> fields{
    {"state", {"S", "I"}}, {"timer"}, {"mood", {"calm", "angry"}}};
const Constants constants{{"n", Number(3)}, {"q", Number(10)}};
const std::vector<std::vector<double>> agents{{0, 4, 1}, {1, 7, 0}, {1, 2, 1}};

double value(const std::string& expression) {
  const PopulationFormula formula(expression, fields, constants);
  std::vector<double> totals;
  for (std::size_t i = 0; i < formula.totals(); ++i) {
    double total = formula.contribution(i, agents[0]);
    for (std::size_t agent = 1; agent < agents.size(); ++agent) {
      const double next = formula.contribution(i, agents[agent]);
      using Total = PopulationFormula::Total;
      total = formula.kind(i) == Total::sum     ? total + next
              : formula.kind(i) == Total::least ? std::min(total, next)
                                                : std::max(total, next);
    }
    totals.push_back(total);
  }
  return formula.value(totals);
}

std::string mistake(const std::string& expression) {
  try {
    value(expression);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(PopulationFormula, AddsCountsAndComparesOverTheAgents) {
  EXPECT_EQ(value("sum(timer)"), 13);
  EXPECT_EQ(value("q - max(timer)"), 3);
  EXPECT_EQ(value("q - largest(timer)"), 3);
  EXPECT_EQ(value("min(if I then timer else q)"), 2);
  EXPECT_EQ(value("mean(timer) * n"), value("sum(timer)"));
  EXPECT_EQ(value("max(min(timer), 2)"), std::max(value("least(timer)"), 2.0));
  EXPECT_EQ(value("least(if I then timer else q)"), 2);
  EXPECT_EQ(value("count(I)"), 2);
  EXPECT_EQ(value("count(S|I)"), 3);
  EXPECT_EQ(value("count(timer > 3 and mood == angry)"), 1);
  EXPECT_EQ(value("count(state != S) * 2 ^ 3"), 16);
}

TEST(PopulationFormula, KnowsConditionsAboutAll) {
  EXPECT_EQ(value("if all(timer > 1) then 1 else 0"), 1);
  EXPECT_EQ(value("if any(timer > 7) then 1 else 0"), 0);
  EXPECT_EQ(value("if none(timer > 7) then count(I) else -1"), 2);
}

TEST(PopulationFormula, MistakesGiveOneSentence) {
  EXPECT_NE(mistake("timer").find("write sum(timer)"), std::string::npos);
  EXPECT_NE(mistake("count(tmer > 1)").find("did you mean 'timer'"), std::string::npos);
  EXPECT_NE(mistake("sun(timer)").find("did you mean 'sum'"), std::string::npos);
  EXPECT_NE(mistake("sum(count(I))").find("cannot stand inside"), std::string::npos);
  EXPECT_NE(mistake("q + n").find("the same for every configuration"), std::string::npos);
  EXPECT_NE(mistake("sum(timer) +").find("column"), std::string::npos);
  EXPECT_NE(mistake("1 / (count(S) - 1)").find("no finite value"), std::string::npos);
  EXPECT_NE(mistake("count(mood == clam)").find("did you mean 'calm'"), std::string::npos);
}

}  // namespace
}  // namespace conclave::text
