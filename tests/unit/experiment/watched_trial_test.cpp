// A trial that is watched is the trial that is run: wherever it pauses, its row, its trace and its
// faults are those of the trial that runs in one piece.
#include "conclave/experiment/watched_trial.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/error.hpp"
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
  const auto live = run.begin({.seed = run.seed()}, *workspace);
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

TEST(PlannedTrial, InterruptedTrialsSaySo) {
  const WatchedTrial beside({.words = words_of("200", "agents")});
  const catalog::PreparedRun& run = beside.run();
  const auto workspace = run.workspace();
  const auto live = run.begin({.seed = run.seed()}, *workspace);
  population::PlannedTrial planned(live->engine(), run.plan(), live->clock());
  planned.advance_to(300u, always);
  EXPECT_EQ(std::move(planned).result().ending, Ending::interrupted);
}

}  // namespace
}  // namespace conclave::experiment
