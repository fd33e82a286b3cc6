// A trial that is watched is the trial that is run: wherever it pauses, its row, its trace and its
// faults are those of the trial that runs in one piece.
#include "conclave/experiment/watched_trial.hpp"

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
#include "conclave/population/live_trial.hpp"
#include "conclave/population/planned_trial.hpp"

namespace conclave::experiment {
namespace {

const KeepGoing always = [](const Moment&) { return true; };

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

// The trial, looked at after every `piece` interactions.
Told watched(const RunText& words, Interactions piece) {
  WatchedTrial trial({.words = words, .grid = TraceGrid{}});
  while (!trial.is_over() && piece < Interactions::max()) {
    trial.advance_to(trial.now() + piece);
    trial.table();
    trial.next_meeting();
  }
  trial.advance_to(Interactions::max());
  return {trial.row(), trial.trace()};
}

TEST(WatchedTrial, PausesChangeNothing) {
  for (const char* const engine : {"agents", "counts", "events"}) {
    const RunText words =
        words_of("60", engine, {"make-leaders:5@convergence+3", "kill-leaders@convergence+90"});
    const Told whole = watched(words, Interactions::max());
    for (const unsigned piece : {1u, 17u, 1000u}) {
      EXPECT_EQ(watched(words, piece), whole) << engine << " in pieces of " << piece;
    }
  }
}

TEST(WatchedTrial, StandsWhereItWasSentAndGoesOnAfterItsEnd) {
  WatchedTrial trial({.words = words_of("30", "agents")});
  EXPECT_TRUE(trial.is_population());
  EXPECT_EQ(trial.leaders(), 30u);
  trial.advance_to(100u);
  EXPECT_EQ(trial.now(), 100u);
  EXPECT_DOUBLE_EQ(trial.time(), 100.0 / 30);
  EXPECT_EQ(trial.interactions_at({7u, 2u}), 105u);
  trial.advance_to(100'000u);
  EXPECT_TRUE(trial.is_over());
  EXPECT_EQ(trial.now(), 100'000u);
  const std::string row = trial.row();
  trial.advance_to(200'000u);
  EXPECT_EQ(trial.row(), row);
}

TEST(WatchedTrial, TheNextChangeIsTheFirstInteractionAfterWhichSomethingDiffers) {
  WatchedTrial trial({.words = words_of("30", "agents")});
  WatchedTrial beside({.words = words_of("30", "agents")});
  trial.advance_to(200u);
  const std::vector<double> before = trial.table().values;
  const auto change = trial.advance_to_change(100'000u);
  ASSERT_TRUE(change && change->has_agents);
  EXPECT_EQ(trial.now(), change->number);
  beside.advance_to(change->number - 1u);
  EXPECT_EQ(beside.table().values, before);
  const auto next = beside.next_meeting();
  ASSERT_TRUE(next.agents);
  EXPECT_EQ(*next.agents, std::pair(change->initiator, change->responder));
  EXPECT_EQ(trial.leaders() + 1, beside.leaders());  // of two leaders one resigns
  EXPECT_FALSE(trial.advance_to_change(0u).has_value());
}

TEST(WatchedTrial, NothingChangesOnceOneLeaderIsLeft) {
  WatchedTrial trial({.words = words_of("10", "agents")});
  trial.advance_to(100'000u);
  ASSERT_EQ(trial.leaders(), 1u);
  EXPECT_FALSE(trial.advance_to_change(500u).has_value());
  EXPECT_EQ(trial.now(), 100'500u);
}

using Lines = std::vector<std::string>;

TEST(WatchedTrial, TellsTheStepsOfSingleInteractions) {
  WatchedTrial trial({.words = words_of("30", "agents")});
  std::size_t resigned = 0;
  for (unsigned i = 1; i <= 300; ++i) {
    const std::uint64_t before = trial.leaders();
    trial.advance_to(Interactions(i));
    EXPECT_EQ(trial.steps(), trial.leaders() < before ? Lines{"1"} : Lines{});
    resigned += trial.steps().size();
  }
  EXPECT_GT(resigned, 20u);
  const auto change = trial.advance_to_change(100'000u);
  ASSERT_TRUE(change);
  EXPECT_EQ(trial.steps(), Lines{"1"});
  trial.advance_to(trial.now() + 2u);
  EXPECT_TRUE(trial.steps().empty()) << "two interactions at once";
}

bool sets(const catalog::Entry& entry, const Lines& lines, const std::string& variable) {
  return std::ranges::any_of(entry.info.steps, [&](const PseudocodeStep& step) {
    const std::string all = ", " + std::string(step.sets) + ",";
    return std::ranges::find(lines, step.line) != lines.end() &&
           all.find(", " + variable + ",") != std::string::npos;
  });
}

// Variables of two agents that differ, and that none of the steps sets.
std::string unexplained(const WatchedTrial& trial, const population::AgentTable& before) {
  const population::AgentTable after = trial.table();
  const std::size_t width = 1 + after.variables.size();
  for (std::size_t i = 0; i < after.values.size(); ++i) {
    if (i % width == 0 || after.values[i] == before.values[i]) continue;
    const std::string& variable = after.variables[i % width - 1].name;
    if (!sets(trial.entry(), trial.steps(), variable)) return variable;
  }
  return {};
}

TEST(WatchedTrial, StepsExplainEveryChangeInEveryProtocolAndNotingThemChangesNothing) {
  for (const catalog::Entry& entry : catalog::entries()) {
    if (entry.network) continue;
    SCOPED_TRACE(entry.info.name);
    EXPECT_FALSE(entry.info.steps.empty());
    RunText words{.protocol = std::string(entry.info.name), .n = "16", .seed = "7"};
    words.engine = "agents";
    words.max_interactions = "1000";
    if (entry.info.name == "electleader") words.init = "same";
    WatchedTrial trial({.words = words});
    Lines known;
    for (const PseudocodeStep& step : entry.info.steps) known.emplace_back(step.line);
    for (unsigned i = 1; i <= 1000; ++i) {
      const population::AgentTable before = trial.table();
      trial.advance_to(Interactions(i));
      ASSERT_EQ(unexplained(trial, before), "") << "interaction " << i;
      for (const std::string& line : trial.steps()) {
        ASSERT_NE(std::ranges::find(known, line), known.end()) << line;
      }
    }
    WatchedTrial whole({.words = words});
    whole.advance_to(Interactions(1000u));
    EXPECT_EQ(trial.table().values, whole.table().values);
    trial.advance_to(Interactions::max());
    whole.advance_to(Interactions::max());
    EXPECT_EQ(trial.row(), whole.row());
  }
}

// Two agents of electleader reset if one of them was resetting before, and only then.
TEST(WatchedTrial, TellsWhichModulesOfElectleaderRan) {
  WatchedTrial trial(
      {.words = {
           .protocol = "electleader", .n = "32", .seed = "4", .params = {"r=8"}, .init = "same"}});
  std::size_t resets = 0;
  for (unsigned i = 1; i <= 3000; ++i) {
    const population::AgentTable before = trial.table();
    const auto agents = *trial.next_meeting().agents;
    const auto is_resetting = [&](AgentCount agent) {
      return before.values[agent * (1 + before.variables.size()) + 1] == 0;
    };
    trial.advance_to(Interactions(i));
    const bool told = std::ranges::find(trial.steps(), "1: 1-2") != trial.steps().end();
    ASSERT_EQ(told, is_resetting(agents.first) || is_resetting(agents.second)) << i;
    resets += told ? 1 : 0;
  }
  EXPECT_GT(resets, 100u);
}

TEST(WatchedTrial, TellsTheRulesOfATextByTheirLines) {
  const std::string content = "states A, B, C\n\nA + B -> C + C\nunordered B + C -> B + B\n"
                              "start all: 5 of A, 5 of B, rest of C\nstop when none(A)\n";
  for (const char* const engine : {"agents", "events"}) {
    WatchedTrial trial({.words = {.protocol = "mine.pp",
                                  .n = "15",
                                  .seed = "3",
                                  .engine = engine,
                                  .graph = "undirected-ring"},
                        .content = content});
    std::size_t told = 0;
    for (unsigned i = 0; i < 200; ++i) {
      const population::NextMeeting next = trial.next_meeting();
      if (!next.agents) break;
      const auto state = [&, table = trial.table()](AgentCount agent) {
        return static_cast<char>('A' + static_cast<int>(table.values[2 * agent + 1]));
      };
      const std::string pair{state(next.agents->first), state(next.agents->second)};
      Lines expected;
      if (pair == "AB") expected = {"3"};
      if (pair == "BC" || pair == "CB") expected = {"4"};
      trial.advance_to(next.number);
      EXPECT_EQ(trial.steps(), expected) << engine << ": " << pair;
      told += expected.size();
    }
    EXPECT_GT(told, 5u);
  }
}

TEST(WatchedTrial, MessagesAreWatchedAsEvents) {
  WatchedTrial trial(
      {.words = {.protocol = "flooding", .n = "5", .seed = "2"}, .grid = TraceGrid{}});
  EXPECT_FALSE(trial.is_population());
  EXPECT_TRUE(trial.is_over());
  std::size_t delivered = 0;
  for (const NetworkEvent& each : trial.events()) delivered += each.event == "deliver" ? 1 : 0;
  EXPECT_EQ(trial.now(), delivered);
  EXPECT_FALSE(trial.advance_to_change(5u).has_value());
}

TEST(WatchedTrial, RefusesWhatHasNoRoomAndWhatMakesNoSense) {
  EXPECT_THROW(WatchedTrial({.words = words_of("100000", "agents"), .most_bytes = 1000}), Error);
  EXPECT_THROW(WatchedTrial({.words = words_of("0", "agents")}), Error);
  EXPECT_THROW(WatchedTrial({.words = {.protocol = "mine.pp", .n = "5"}, .content = "strt A\n"}),
               Error);
}

TEST(PlannedTrial, GoesOnWhereItPaused) {
  const WatchedTrial beside({.words = words_of("200", "agents")});
  const catalog::PreparedRun& run = beside.run();
  const auto workspace = run.workspace();
  const auto whole = run.run(0, *workspace, always);
  const auto live = run.begin({.seed = run.seed()}, *workspace, {});
  population::PlannedTrial planned(live->engine(), run.plan(), live->clock());
  planned.advance_to(500u, always);
  EXPECT_FALSE(planned.is_over());
  EXPECT_EQ(live->engine().now(), 500u);
  EXPECT_FALSE(planned.first_convergence().has_value());
  planned.advance_to(Interactions::max(), always);
  ASSERT_TRUE(planned.is_over());
  EXPECT_EQ(planned.first_convergence(), whole.interactions);
  const TrialResult result = std::move(planned).result();
  EXPECT_EQ(result.ending, Ending::converged);
  EXPECT_EQ(result.interactions, whole.interactions);
}

TEST(PreparedRun, CanBeInterruptedWhileItsAgentsAreMade) {
  const WatchedTrial beside({.words = words_of("100000", "agents")});
  const catalog::PreparedRun& run = beside.run();
  const auto workspace = run.workspace();
  int questions = 0;
  const auto result = run.run(0, *workspace, [&](const Moment&) { return ++questions < 50; });
  EXPECT_EQ(result.ending, Ending::interrupted);
  EXPECT_EQ(result.interactions, 0u);
  EXPECT_EQ(questions, 50);
  EXPECT_THROW(static_cast<void>(run.begin({}, *workspace, [](const Moment&) { return false; })),
               Interrupted);
}

// The last census of a large population takes longer than anyone wants to wait.
TEST(PlannedTrial, CanBeInterruptedDuringItsLastCensus) {
  const WatchedTrial beside({.words = words_of("20000", "agents")});
  TrialPlan plan = beside.run().plan();
  plan.until = Horizon{.time = *parse_fraction("1")};
  plan.keeps_final = true;
  const auto workspace = beside.run().workspace();
  const auto live = beside.run().begin({.seed = 1}, *workspace, {});
  population::PlannedTrial planned(live->engine(), plan, live->clock());
  int asked_at_the_end = 0;
  const KeepGoing until_census = [&](const Moment& now) {
    return now.interactions < 20'000u || ++asked_at_the_end < 2;
  };
  planned.advance_to(Interactions::max(), until_census);
  EXPECT_FALSE(planned.is_over());
  planned.advance_to(Interactions::max(), always);
  ASSERT_TRUE(planned.is_over());
  EXPECT_EQ(std::move(planned).result().final_agents, live->engine().agents());
}

// With hundreds of states among a hundred agents, the counts engine learns new meetings all the
// time, which takes far longer than the interactions themselves.
TEST(PlannedTrial, IsAskedOftenWhileTheCountsEngineMeetsNewStates) {
  RunText words = words_of("100", "counts");
  words.protocol = "ppl";
  const WatchedTrial beside({.words = words});
  const auto workspace = beside.run().workspace();
  int questions = 0;
  const TrialResult result =
      beside.run().run(0, *workspace, [&](const Moment&) { return ++questions < 10; });
  EXPECT_EQ(result.ending, Ending::interrupted);
  EXPECT_GT(result.interactions, 0u);
  EXPECT_LT(result.interactions, 20'000u);
}

TEST(PlannedTrial, InterruptedTrialsSaySo) {
  const WatchedTrial beside({.words = words_of("200", "agents")});
  const catalog::PreparedRun& run = beside.run();
  const auto workspace = run.workspace();
  const auto live = run.begin({.seed = run.seed()}, *workspace, {});
  population::PlannedTrial planned(live->engine(), run.plan(), live->clock());
  planned.advance_to(300u, always);
  EXPECT_EQ(std::move(planned).result().ending, Ending::interrupted);
}

}  // namespace
}  // namespace conclave::experiment
