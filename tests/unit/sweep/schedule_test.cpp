#include "conclave/sweep/schedule.hpp"

#include <gtest/gtest.h>

#include "tests/unit/sweep/sweep_folder.hpp"

namespace conclave::sweep {
namespace {

using Trials = std::vector<std::uint64_t>;

class Scheduling : public testing_support::SweepFolder {};

TEST_F(Scheduling, HandsOutEveryTrialOnceInOrder) {
  const Plan two = plan();
  Schedule schedule(two, {}, Results(store(two, 0, {})), UINT64_MAX);
  std::vector<std::pair<std::size_t, std::uint64_t>> seen;
  while (const auto task = schedule.next(4)) {
    for (const std::uint64_t trial : task->trials) seen.emplace_back(task->cell, trial);
    schedule.finish(*task, rows_of(two, task->cell, task->trials));
  }
  ASSERT_EQ(seen.size(), 12u);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_TRUE(schedule.is_complete());
}

TEST_F(Scheduling, LeavesOutWhatIsStored) {
  const Plan two = plan();
  Schedule schedule(two, {}, Results(store(two, 0, {1, 3})), UINT64_MAX);
  EXPECT_EQ(schedule.wanted(0), 6u);
  EXPECT_EQ(schedule.left(0), 4u);
  EXPECT_EQ(schedule.next(100)->trials, (Trials{0, 2, 4, 5}));
}

TEST_F(Scheduling, GivesAShardItsOwnTrials) {
  const Plan two = plan();
  Schedule schedule(two, {.index = 1, .count = 3}, Results(store(two, 0, {})), UINT64_MAX);
  EXPECT_EQ(schedule.next(100)->trials, (Trials{1, 4}));
  EXPECT_EQ(schedule.next(100)->trials, (Trials{0, 3}));
}

TEST_F(Scheduling, WaitsWhereMemoryIsShort) {
  Plan two = plan();
  for (Cell& cell : two.cells) cell.bytes = 100;
  Schedule schedule(two, {}, Results(store(two, 0, {})), 150);
  const auto first = schedule.next(1);
  ASSERT_TRUE(first);
  EXPECT_FALSE(schedule.next(1));
  schedule.finish(*first, rows_of(two, 0, first->trials));
  EXPECT_TRUE(schedule.next(1));
}

TEST_F(Scheduling, AsksForMoreUntilThePrecisionIsReached) {
  const Plan one = plan("protocol = \"fratricide\"\nn = 10\nprecision = 0.2\nbatch = 5\n");
  Schedule schedule(one, {}, Results(store(one, 0, {})), UINT64_MAX);
  std::uint64_t trials = 0;
  while (const auto task = schedule.next(5)) {
    trials += task->trials.size();
    schedule.finish(*task, rows_of(one, 0, task->trials));
  }
  EXPECT_TRUE(schedule.is_complete());
  EXPECT_EQ(trials % 5, 0u);
  EXPECT_GT(trials, 5u);
  EXPECT_LT(trials, 1000u);
}

class Prefix : public testing_support::SweepFolder {
 protected:
  Trials prefix(const Results& results, std::size_t cell) const {
    Trials trials;
    for_each_row_of_prefix(
        results, cell, [&](std::uint64_t trial, const std::string&) { trials.push_back(trial); });
    return trials;
  }
};

TEST_F(Prefix, EndsAtTheFirstMissingTrial) {
  const Plan two = plan();
  store(two, 0, {0, 1, 3, 5});
  const Results results(store(two, 1, {1, 2}));
  EXPECT_EQ(prefix(results, 0), (Trials{0, 1}));
  EXPECT_EQ(prefix(results, 1), Trials{});
  EXPECT_EQ(progress_of(results)[0].wanted, 6u);
  EXPECT_EQ(progress_of(results)[0].missing, 2u);
}

TEST_F(Prefix, OfAShardSkipsTheTrialsOfOthers) {
  const Plan two = plan();
  const Origin origin{.code = "1", .shard = {.index = 1, .count = 2}};
  const Results results(store(two, 0, {1, 3, 5}, origin));
  EXPECT_EQ(prefix(results, 0), (Trials{1, 3, 5}));
  EXPECT_EQ(progress_of(results)[0].missing, 0u);
  EXPECT_EQ(progress_of(results)[1].missing, 3u);
}

}  // namespace
}  // namespace conclave::sweep
