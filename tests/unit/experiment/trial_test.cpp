// A trial that is watched is the trial that is run: wherever it pauses, its row, its trace and its
// faults are those of the trial that runs in one piece.
#include "conclave/population/trial.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/error.hpp"
#include "conclave/base/numbers.hpp"
#include "conclave/base/progress.hpp"
#include "conclave/experiment/row.hpp"

#include "tests/support/open_trial.hpp"

namespace conclave::experiment {
namespace {

using population::Trial;

RunText words_of(std::string n, std::string engine, std::vector<std::string> faults = {}) {
  return {.protocol = "fratricide",
          .n = std::move(n),
          .seed = "11",
          .engine = std::move(engine),
          .faults = std::move(faults)};
}

struct Told {
  std::string row;
  std::string trace;
  friend bool operator==(const Told&, const Told&) = default;
};

// The trial, sampled after every `piece` interactions.
Told watched(const RunText& words, Interactions piece) {
  const OpenRun open(words, {.grid = TraceGrid{}});
  const auto trial = open.begin();
  while (!trial->is_over() && piece < Interactions::max()) {
    trial->advance_to(trial->now() + piece, go_on);
    trial->engine().table();
    trial->engine().next_meeting();
  }
  trial->advance_to_end(go_on);
  const Row row{0, trial->result()};
  return {RowFormat(*open.run).json(row), RowFormat(*open.run).trace(row)};
}

TEST(Trial, PausesChangeNothing) {
  for (const char* const engine : {"agents", "counts", "events"}) {
    const RunText words =
        words_of("60", engine, {"make-leaders:5@convergence+3", "kill-leaders@convergence+90"});
    const Told whole = watched(words, Interactions::max());
    for (const unsigned piece : {1u, 17u, 1000u}) {
      EXPECT_EQ(watched(words, piece), whole) << engine << " in pieces of " << piece;
    }
  }
}

TEST(Trial, StandsWhereItWasSentAndGoesOnAfterItsEnd) {
  const OpenRun open(words_of("30", "agents"));
  const auto trial = open.begin();
  EXPECT_EQ(trial->engine().leaders(), 30u);
  trial->advance_to(100u, go_on);
  EXPECT_EQ(trial->now(), 100u);
  EXPECT_DOUBLE_EQ(trial->clock().time_after(trial->now()), 100.0 / 30);
  EXPECT_EQ(trial->clock().interactions_at({7u, 2u}), 105u);
  trial->advance_to(100'000u, go_on);
  EXPECT_TRUE(trial->is_over());
  EXPECT_EQ(trial->now(), 100'000u);
  const Interactions end = trial->result().interactions;
  trial->advance_to(200'000u, go_on);
  EXPECT_EQ(trial->now(), 200'000u);
  EXPECT_EQ(trial->result().interactions, end);
}

TEST(Trial, TheNextChangeIsTheFirstInteractionAfterWhichSomethingDiffers) {
  const OpenRun open(words_of("30", "agents")), aside(words_of("30", "agents"));
  const auto trial = open.begin();
  const auto beside = aside.begin();
  trial->advance_to(200u, go_on);
  const std::vector<double> before = trial->engine().table().values;
  const auto change = trial->advance_to_change(100'000u, go_on);
  ASSERT_TRUE(change && change->agents);
  EXPECT_EQ(trial->now(), change->number);
  beside->advance_to(change->number - 1u, go_on);
  EXPECT_EQ(beside->engine().table().values, before);
  EXPECT_EQ(beside->engine().next_meeting().agents, change->agents);
  EXPECT_EQ(trial->engine().leaders() + 1, beside->engine().leaders());  // one of two resigns
  EXPECT_FALSE(trial->advance_to_change(0u, go_on).has_value());
}

TEST(Trial, NothingChangesOnceOneLeaderIsLeft) {
  const OpenRun open(words_of("10", "agents"));
  const auto trial = open.begin();
  trial->advance_to(100'000u, go_on);
  ASSERT_EQ(trial->engine().leaders(), 1u);
  EXPECT_FALSE(trial->advance_to_change(500u, go_on).has_value());
  EXPECT_EQ(trial->now(), 100'500u);
}

using Lines = std::vector<std::string>;

TEST(Trial, ReportsTheStepsOfSingleInteractions) {
  const OpenRun open(words_of("30", "agents"));
  const auto trial = open.begin();
  trial->follow_steps();
  std::size_t resigned = 0;
  for (unsigned i = 1; i <= 300; ++i) {
    const std::uint64_t before = trial->engine().leaders();
    trial->advance_to(Interactions(i), go_on);
    EXPECT_EQ(trial->steps(), trial->engine().leaders() < before ? Lines{"1"} : Lines{});
    resigned += trial->steps().size();
  }
  EXPECT_GT(resigned, 20u);
  ASSERT_TRUE(trial->advance_to_change(100'000u, go_on));
  EXPECT_EQ(trial->steps(), Lines{"1"});
  trial->advance_to(trial->now() + 2u, go_on);
  EXPECT_TRUE(trial->steps().empty()) << "two interactions at once";
}

bool sets(const catalog::Entry& entry, const Lines& lines, const std::string& variable) {
  return std::ranges::any_of(entry.info.steps, [&](const PseudocodeStep& step) {
    const std::string all = ", " + std::string(step.sets) + ",";
    return std::ranges::find(lines, step.line) != lines.end() &&
           all.find(", " + variable + ",") != std::string::npos;
  });
}

// Variables of two agents that differ, and that none of the steps sets.
std::string unexplained(const catalog::Entry& entry, const Trial& trial,
                        const population::AgentTable& before) {
  const population::AgentTable after = trial.engine().table();
  const std::size_t width = 1 + after.variables.size();
  for (std::size_t i = 0; i < after.values.size(); ++i) {
    if (i % width == 0 || after.values[i] == before.values[i]) continue;
    const std::string& variable = after.variables[i % width - 1].name;
    if (!sets(entry, trial.steps(), variable)) return variable;
  }
  return {};
}

TEST(Trial, StepsExplainEveryChangeInEveryProtocolAndNotingThemChangesNothing) {
  for (const catalog::Entry& entry : catalog::entries()) {
    if (entry.network) continue;
    SCOPED_TRACE(entry.info.name);
    EXPECT_FALSE(entry.info.steps.empty());
    RunText words{.protocol = std::string(entry.info.name), .n = "16", .seed = "7"};
    words.engine = "agents";
    words.max_interactions = "1000";
    if (entry.info.name == "electleader") words.init = "same";
    const OpenRun open(words), aside(words);
    const auto trial = open.begin();
    trial->follow_steps();
    Lines known;
    for (const PseudocodeStep& step : entry.info.steps) known.emplace_back(step.line);
    for (unsigned i = 1; i <= 1000; ++i) {
      const population::AgentTable before = trial->engine().table();
      trial->advance_to(Interactions(i), go_on);
      ASSERT_EQ(unexplained(entry, *trial, before), "") << "interaction " << i;
      for (const std::string& line : trial->steps()) {
        ASSERT_NE(std::ranges::find(known, line), known.end()) << line;
      }
    }
    const auto whole = aside.begin();
    whole->advance_to(Interactions(1000u), go_on);
    EXPECT_EQ(trial->engine().table().values, whole->engine().table().values);
    trial->advance_to_end(go_on);
    whole->advance_to_end(go_on);
    const RowFormat format(*open.run);
    EXPECT_EQ(format.json({0, trial->result()}), format.json({0, whole->result()}));
  }
}

// Two agents of electleader reset if one of them was resetting before, and only then.
TEST(Trial, ReportsWhichModulesOfElectleaderRan) {
  const OpenRun open(RunText{
      .protocol = "electleader", .n = "32", .seed = "4", .params = {"r=8"}, .init = "same"});
  const auto trial = open.begin();
  trial->follow_steps();
  std::size_t resets = 0;
  for (unsigned i = 1; i <= 3000; ++i) {
    const population::AgentTable before = trial->engine().table();
    const auto agents = *trial->engine().next_meeting().agents;
    const auto is_resetting = [&](AgentCount agent) {
      return before.values[agent * (1 + before.variables.size()) + 1] == 0;
    };
    trial->advance_to(Interactions(i), go_on);
    const bool is_noted = std::ranges::find(trial->steps(), "1: 1-2") != trial->steps().end();
    ASSERT_EQ(is_noted, is_resetting(agents.first) || is_resetting(agents.second)) << i;
    resets += is_noted ? 1 : 0;
  }
  EXPECT_GT(resets, 100u);
}

TEST(Trial, ReportsTheRulesOfAProtocolFileByTheirLines) {
  const std::string content = "states A, B, C\n\nA + B -> C + C\nunordered B + C -> B + B\n"
                              "start all: 5 of A, 5 of B, rest of C\nstop when none(A)\n";
  for (const char* const engine : {"agents", "events"}) {
    const OpenRun open(RunText{.protocol = "mine.pp",
                               .n = "15",
                               .seed = "3",
                               .engine = engine,
                               .graph = "undirected-ring"},
                       {}, content);
    const auto trial = open.begin();
    trial->follow_steps();
    std::size_t rules = 0;
    for (unsigned i = 0; i < 200; ++i) {
      const population::NextMeeting next = trial->engine().next_meeting();
      if (!next.agents) break;
      const auto state = [&, table = trial->engine().table()](AgentCount agent) {
        return static_cast<char>('A' + static_cast<int>(table.values[2 * agent + 1]));
      };
      const std::string pair{state(next.agents->first), state(next.agents->second)};
      Lines expected;
      if (pair == "AB") expected = {"3"};
      if (pair == "BC" || pair == "CB") expected = {"4"};
      trial->advance_to(next.number, go_on);
      EXPECT_EQ(trial->steps(), expected) << engine << ": " << pair;
      rules += expected.size();
    }
    EXPECT_GT(rules, 5u);
  }
}

TEST(Trial, GoesOnWhereItPaused) {
  const OpenRun open(words_of("200", "agents"));
  const TrialResult whole = open.result();
  const auto trial = open.begin();
  trial->advance_to(500u, go_on);
  EXPECT_FALSE(trial->is_over());
  EXPECT_EQ(trial->now(), 500u);
  EXPECT_FALSE(trial->first_convergence().has_value());
  trial->advance_to_end(go_on);
  ASSERT_TRUE(trial->is_over());
  EXPECT_EQ(trial->first_convergence(), whole.interactions);
  const TrialResult result = std::move(*trial).result();
  EXPECT_EQ(result.ending, Ending::converged);
  EXPECT_EQ(result.interactions, whole.interactions);
}

TEST(PreparedRun, CanBeInterruptedWhileItsAgentsAreMade) {
  const OpenRun open(words_of("100000", "agents"));
  int questions = 0;
  const auto result =
      open.run->run(0, *open.workspace, [&](const Moment&) { return ++questions < 50; });
  EXPECT_EQ(result.ending, Ending::interrupted);
  EXPECT_EQ(result.interactions, 0u);
  EXPECT_EQ(questions, 50);
  EXPECT_THROW(
      static_cast<void>(open.run->begin({}, *open.workspace, [](const Moment&) { return false; })),
      Interrupted);
}

// The last census of a large population takes longer than anyone wants to wait.
TEST(Trial, CanBeInterruptedDuringItsLastCensus) {
  RunText words = words_of("20000", "agents");
  words.until = "1";
  const OpenRun open(words, {.keeps_final = true});
  const auto trial = open.begin();
  int asked_at_the_end = 0;
  const KeepGoing until_census = [&](const Moment& now) {
    return now.interactions < 20'000u || ++asked_at_the_end < 2;
  };
  trial->advance_to_end(until_census);
  EXPECT_FALSE(trial->is_over());
  trial->advance_to_end(go_on);
  ASSERT_TRUE(trial->is_over());
  EXPECT_EQ(trial->result().final_agents, trial->engine().agents());
}

// With hundreds of states among a hundred agents, the counts engine learns new pairs of states all
// the time, which takes far longer than the interactions themselves.
TEST(PreparedRun, IsAskedOftenWhileTheCountsEngineMeetsNewStates) {
  RunText words = words_of("100", "counts");
  words.protocol = "ppl";
  const OpenRun open(words);
  int questions = 0;
  const TrialResult result =
      open.run->run(0, *open.workspace, [&](const Moment&) { return ++questions < 10; });
  EXPECT_EQ(result.ending, Ending::interrupted);
  EXPECT_GT(result.interactions, 0u);
  EXPECT_LT(result.interactions, 20'000u);
}

TEST(Trial, InterruptedTrialsSaySo) {
  const OpenRun open(words_of("200", "agents"));
  const auto trial = open.begin();
  trial->advance_to(300u, go_on);
  EXPECT_EQ(std::move(*trial).result().ending, Ending::interrupted);
}

}  // namespace
}  // namespace conclave::experiment
