#include <string>

#include <gtest/gtest.h>

#include "conclave/base/error.hpp"
#include "conclave/sweep/plan.hpp"
#include "conclave/sweep/sweep.hpp"

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

TEST_F(PlanFile, TakesTrueAndFalseAloneForFlags) {
  const std::string head = "protocol = \"kmpp-async\"\nn = 4\n";
  EXPECT_TRUE(plan(head + "count_edges = true\n").cells[0].words.count_edges);
  EXPECT_FALSE(plan(head + "count_edges = false\n").cells[0].words.count_edges);
  for (const std::string value : {"1", "\"yes\"", "\"true\"", "[true]"}) {
    EXPECT_EQ(mistake(head + "count_edges = " + value + "\n"),
              "plan.toml:3: count_edges: true or false is expected here, without quotes");
  }
}

TEST_F(PlanFile, MayAskForEstimatesOfRareFailures) {
  const Plan read = plan("kind = \"rare\"\nprotocol = \"ppl\"\nn = [4, 8]\nway = \"timeout\"\n"
                         "importance = [[\"group\"], [\"group\", \"second\"]]\n"
                         "particles = [20, 30]\nmost_levels = 90\nrepetitions = 3\n"
                         "params = { t_max = 6, t_virus = 2, t_emit = 10 }\n");
  ASSERT_EQ(read.cells.size(), 8u);
  EXPECT_EQ(cell_text(read.cells[0]), "rare ppl n=4 t_max=6 t_virus=2 t_emit=10 way=timeout "
                                      "importance=group particles=20 most-levels=90 seed=1");
  EXPECT_EQ(read.cells[1].words.importance, (std::vector<std::string>{"group", "second"}));
  EXPECT_EQ(read.cells[2].words.particles, "30");
  EXPECT_EQ(read.cells[4].words.n, "8");
  EXPECT_EQ(read.cells[7].sampling.trials, 3u);
  EXPECT_NE(read.cells[0].head.find("\"kind\":\"rare\""), std::string::npos);
}

TEST_F(PlanFile, HasLimitsThatSpeakOfParameters) {
  const Plan read = plan("protocol = \"pll\"\nn = 30\nparams = { m = [6, 8] }\n"
                         "max_interactions = [\"n*m\", \"10*n*m\"]\n");
  ASSERT_EQ(read.cells.size(), 4u);
  EXPECT_EQ(read.cells[1].words.max_interactions, "1800");
  EXPECT_EQ(read.cells[2].words.max_interactions, "240");
}

TEST_F(PlanFile, RefusesEstimatesThatMakeNoSense) {
  const std::string ppl =
      "protocol = \"ppl\"\nn = 4\nparams = { t_max = 6, t_virus = 2, t_emit = 10 }\n";
  const std::string rare = ppl + "kind = \"rare\"\n";
  EXPECT_EQ(mistake(ppl + "kind = \"rar\"\n").substr(0, 37),
            "plan.toml:4: kind: unknown kind 'rar'");
  EXPECT_EQ(mistake(ppl + "way = \"timeout\"\n"),
            "plan.toml:4: way: only estimates of rare failures have it: add kind = \"rare\"");
  EXPECT_EQ(mistake(rare + "trials = 3\n"),
            "plan.toml:5: trials: an estimate of rare failures has repetitions instead");
  EXPECT_EQ(mistake(rare + "faults = \"kill-leaders@10\"\n"),
            "plan.toml:5: faults: an estimate of rare failures does not have it");
  EXPECT_EQ(mistake(rare + "repetitions = 1\n").substr(0, 24), "plan.toml:5: repetitions");
  EXPECT_EQ(mistake(rare + "particles = 3\n").substr(0, 23), "plan.toml:5: particles:");
  EXPECT_EQ(mistake(rare + "way = \"timout\"\n").substr(0, 17), "plan.toml:5: way:");
  EXPECT_EQ(mistake(rare + "importance = \"grup\"\n").substr(0, 24), "plan.toml:5: importance:");
  EXPECT_EQ(mistake(rare + "max_interactions = 100\n").substr(0, 30),
            "plan.toml:5: max_interactions:");
  EXPECT_EQ(mistake("protocol = \"fratricide\"\nn = 4\nkind = \"rare\"\n").substr(0, 61),
            "plan.toml:3: kind: fratricide names no importance functions, ");
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
