#include <string>

#include <gtest/gtest.h>

#include "conclave/base/error.hpp"
#include "conclave/sweep/pilot.hpp"
#include "conclave/sweep/plan.hpp"

#include "tests/unit/sweep/sweep_folder.hpp"

namespace conclave::sweep {
namespace {

class PlanFile : public testing_support::SweepFolder {
 protected:
  std::string mistake(const std::string& text) const {
    const std::string sentence = testing_support::message_of<Error>([&] { plan(text); });
    return sentence.substr(sentence.find("plan.toml"));
  }
};

TEST_F(PlanFile, BecomesCellsInTheOrderOfItsKeys) {
  const Plan read =
      plan("name = \"mine\"\nseed = 3\ntrials = 7\n[[run]]\nprotocol = \"fratricide\"\n"
           "n = [10, 20]\n[[run]]\nprotocol = \"pll\"\nn = 30\ntrials = 2\n");
  EXPECT_EQ(read.name, "mine");
  ASSERT_EQ(read.cells.size(), 3u);
  EXPECT_EQ(cell_text(read.cells[1]), "fratricide n=20 seed=3");
  EXPECT_EQ(read.cells[1].sampling.trials, 7u);
  EXPECT_EQ(read.cells[2].run, 1u);
  EXPECT_EQ(read.cells[2].sampling.trials, 2u);
  EXPECT_GT(read.cells[2].bytes, 0u);
}

// The library's tables of other letters have gaps; what falls into one was undefined behaviour.
TEST_F(PlanFile, HasAccentsInQuotesAndCommentsOnly) {
  const std::string rest = "protocol = \"fratricide\"\nn = 10 # \xc3\xa9t\xc3\xa9\n";
  EXPECT_EQ(plan("name = \"\xc3\xa9t\xc3\xa9\"\n" + rest).name, "\xc3\xa9t\xc3\xa9");
  for (const std::string key : {"\xc3\xa9", "n\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"})
    EXPECT_EQ(mistake(rest + key + " = 1\n").substr(0, 32), "plan.toml:3: Error while parsing");
}

TEST_F(PlanFile, WithoutANameHasThatOfItsFile) { EXPECT_EQ(plan().name, "plan"); }

TEST_F(PlanFile, MayAskForAPrecision) {
  const Plan read = plan("protocol = \"fratricide\"\nn = 10\nprecision = \"5%\"\nbatch = 10\n");
  EXPECT_DOUBLE_EQ(read.cells[0].sampling.precision, 0.05);
  EXPECT_EQ(read.cells[0].sampling.measure, "interactions");
}

TEST_F(PlanFile, HasItsMistakesNamedByLineAndKey) {
  const std::string head = "protocol = \"fratricide\"\n";
  EXPECT_EQ(mistake(head + "n = \"x y\"\n").substr(0, 14), "plan.toml:2: n");
  EXPECT_EQ(mistake(head + "n = 10\nseeed = 1\n").substr(0, 33),
            "plan.toml:3: unknown key 'seeed' ");
  EXPECT_EQ(mistake(head + "n = \"2^63\"\n"), "plan.toml:2: n: at most 2^62 agents are allowed");
  EXPECT_EQ(mistake(head), "plan.toml:1: this run has no n");
  EXPECT_EQ(mistake("a" + std::string(60000, '.') + "\n"),
            "plan.toml:1: keys or lists nest too deep here");
  EXPECT_EQ(mistake("run = 1\n").substr(0, 16), "plan.toml:1: run");
}

TEST_F(PlanFile, KeepsTheTextsItNames) {
  write("mine.rules", "# two states\nleaders: a\na, a -> a, b\n");
  const std::string text = "protocol = \"mine.rules\"\nn = 10\n";
  const std::string sentence = testing_support::message_of<Error>([&] { plan(text); });
  // Whether this text is a protocol is not for this test; it must have been read.
  if (sentence.empty()) {
    EXPECT_EQ(plan(text).texts.at("mine.rules").name, "mine.rules");
  } else {
    EXPECT_NE(sentence.find("mine.rules:"), std::string::npos) << sentence;
  }
}

TEST_F(PlanFile, GivesCellsSeedsOfTheirOwnWhenAsked) {
  const std::string text = "protocol = \"fratricide\"\nn = [10, 20]\ncell_seeds = \"different\"\n";
  const Plan read = plan(text);
  EXPECT_NE(read.cells[0].words.seed, read.cells[1].words.seed);
  EXPECT_EQ(read.cells[0].words.seed, plan(text).cells[0].words.seed);
}

TEST_F(PlanFile, IsTriedOutByAPilot) {
  const std::atomic<bool> stop = false;
  const Pilot pilot = run_pilot(plan(), 0, stop);
  EXPECT_TRUE(pilot.is_complete);
  EXPECT_GT(pilot.steps, 8);
  EXPECT_GT(pilot.seconds, 0);
  const std::atomic<bool> stopped = true;
  EXPECT_FALSE(
      run_pilot(plan("protocol = \"fratricide\"\nn = 1e5\nengine = \"agents\"\n"), 0, stopped)
          .is_complete);
}

}  // namespace
}  // namespace conclave::sweep
