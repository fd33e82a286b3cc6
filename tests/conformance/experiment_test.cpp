// The runner, the memory rule and the summary, on a run made of known trials.
#include <atomic>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/error.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/experiment/exact_text.hpp"
#include "conclave/experiment/row.hpp"
#include "conclave/experiment/runner.hpp"
#include "conclave/experiment/summary.hpp"

namespace conclave::experiment {
namespace {

// Trial t takes t interactions; even trials are slow, so that rows finish out of order.
class KnownTrials final : public catalog::PreparedRun {
 public:
  std::uint64_t bytes = 1;
  std::uint64_t failing_trial = UINT64_MAX;
  Ending ending = Ending::converged;
  std::function<TrialResult(std::uint64_t)> outcome;  // instead of the above, if there is one

  std::unique_ptr<catalog::Workspace> workspace() const override {
    return std::make_unique<catalog::Workspace>();
  }
  TrialResult run(std::uint64_t trial, catalog::Workspace&,
                  const KeepGoing& keep_going) const override {
    if (outcome) return outcome(trial);
    if (trial == failing_trial) throw std::runtime_error("trial failed");
    const int pauses = trial % 2 == 0 ? 10 : 1;
    for (int i = 0; i < pauses; ++i) {
      std::this_thread::yield();
      if (!keep_going(trial)) return {.ending = Ending::interrupted};
    }
    return {.ending = ending, .interactions = trial, .leaders = 1, .observations = {}};
  }
  AgentCount n() const override { return 10; }
  std::uint64_t bytes_per_trial() const override { return bytes; }
  Interactions state_count() const override { return 1u; }
  std::string_view protocol() const override { return "known"; }
  std::string_view engine() const override { return "table"; }
  std::string_view start() const override { return "clean"; }
  std::uint64_t seed() const override { return 1; }
  std::span<const catalog::ParameterValue> parameters() const override { return parameters_; }
  std::span<const Observable> observables() const override { return observables_; }
  const TrialPlan& plan() const override { return plan_; }
  std::string_view graph() const override { return {}; }

 private:
  std::vector<catalog::ParameterValue> parameters_{{"m", std::uint64_t{3}},
                                                   {"mode", std::string("a,\"b\"")}};
  std::vector<Observable> observables_{{"seen", ""}, {"unseen", ""}};
  TrialPlan plan_;
};

std::vector<std::uint64_t> trials_taken(const KnownTrials& run, std::uint64_t trials,
                                        unsigned threads) {
  std::vector<std::uint64_t> taken;
  Progress progress;
  const std::atomic<bool> stop = false;
  run_trials(
      run, {.trials = trials, .threads = threads},
      [&](const Row& row) { taken.push_back(row.trial); }, progress, stop);
  EXPECT_EQ(progress.trials_done, trials);
  return taken;
}

TEST(Runner, HandsOverRowsInTrialOrder) {
  std::vector<std::uint64_t> expected(500);
  std::iota(expected.begin(), expected.end(), std::uint64_t{0});
  for (const unsigned threads : {1u, 2u, 8u}) {
    EXPECT_EQ(trials_taken(KnownTrials(), 500, threads), expected) << threads << " threads";
  }
}

TEST(Runner, StopsWithoutAGapWhenAsked) {
  const KnownTrials run;
  std::vector<std::uint64_t> taken;
  Progress progress;
  std::atomic<bool> stop = false;
  const std::uint64_t rows = run_trials(
      run, {.trials = 1'000'000, .threads = 4},
      [&](const Row& row) {
        taken.push_back(row.trial);
        if (row.trial == 100) stop = true;
      },
      progress, stop);
  EXPECT_EQ(rows, taken.size());
  EXPECT_GE(rows, 101u);
  EXPECT_LT(rows, 1'000'000u);  // those behind a slow trial come in one go, however many
  for (std::uint64_t i = 0; i < rows; ++i) EXPECT_EQ(taken[i], i);
}

TEST(Runner, RethrowsWhatATrialThrows) {
  KnownTrials run;
  run.failing_trial = 20;
  EXPECT_THROW(trials_taken(run, 100, 3), std::runtime_error);
}

TEST(WorkerCount, FollowsTrialsProcessorsAndMemory) {
  KnownTrials run;
  run.bytes = 100;
  EXPECT_EQ(worker_count(run, 1, std::nullopt, 1000), 1u);
  EXPECT_EQ(worker_count(run, 50, 4u, 1000), 4u);
  EXPECT_EQ(worker_count(run, 3, 4u, 1000), 3u);
  EXPECT_EQ(worker_count(run, 50, std::nullopt, 100), 1u);
  EXPECT_EQ(worker_count(run, 1, std::nullopt), 1u);
  EXPECT_EQ(worker_count(run, 3, 2u), 2u);
}

TEST(WorkerCount, RefusesWhatDoesNotFit) {
  KnownTrials run;
  run.bytes = 100;
  EXPECT_THROW(worker_count(run, 50, std::nullopt, 99), Error);
  EXPECT_THROW(worker_count(run, 50, 4u, 399), Error);
  EXPECT_EQ(worker_count(run, 50, 4u, 400), 4u);
}

TEST(AvailableMemory, IsPlausible) {
  EXPECT_GT(available_memory(), std::uint64_t{1} << 26);
  EXPECT_LT(available_memory(), std::uint64_t{1} << 50);
}

// One in eight trials never converges, which may show soon, or a thousand interactions later; the
// others take 0 to 3 interactions, equally often.
TEST(LawTest, TakesWhatIsLaterOrNeverForOneCase) {
  const auto held_to = [](Ending end_of_late, const std::vector<double>& law) {
    const Interactions late = end_of_late == Ending::converged ? 1000u : 2u;
    KnownTrials run;
    run.outcome = [=](std::uint64_t trial) -> TrialResult {
      if (trial % 8 == 0) return {.ending = end_of_late, .interactions = late, .observations = {}};
      return {.ending = Ending::converged, .interactions = trial / 8 % 4, .observations = {}};
    };
    Progress progress;
    return test_law(run, law, {.trials = 8000}, progress, std::atomic<bool>(false));
  };
  const double each = 7.0 / 32;
  const std::vector<double> right{each, 2 * each, 3 * each, 4 * each, 4 * each};
  for (const Ending late : {Ending::hopeless, Ending::limit, Ending::converged}) {
    const LawTest test = held_to(late, right);
    EXPECT_GT(test.fit.p_value, 0.99);
    EXPECT_EQ(test.horizon, 4u);
    EXPECT_DOUBLE_EQ(test.expected_beyond, 1000);
    EXPECT_EQ(test.found_beyond, 1000u);
    EXPECT_DOUBLE_EQ(test.mean, 1.5);
    EXPECT_TRUE(held_to(late, {0.25, 0.5, 0.75, 1}).is_rejected()) << "forgets the never";
    EXPECT_TRUE(held_to(late, {0.2, 0.4, 0.6, 0.8}).is_rejected()) << "too many of them";
    EXPECT_TRUE(held_to(late, {0, each, 2 * each, 3 * each, 4 * each}).is_rejected()) << "late";
  }
}

TEST(Rows, KeepIntegersBeyond64Bits) {
  const KnownTrials run;
  Row row{7, {.ending = Ending::converged, .leaders = 1}};
  row.result.interactions = Interactions(UINT64_MAX) + 1u;
  row.result.observations = {{"big", Interactions::max()}, {"yes", true}, {"half", 0.5}};
  EXPECT_EQ(RowFormat(run).json(row),
            R"({"protocol":"known","engine":"table","n":10,"params":{"m":3,"mode":"a,\"b\""},)"
            R"("init":"clean","seed":1,"trial":7,"converged":true,)"
            R"("interactions":18446744073709551616,"parallel_time":1.8446744073709553e+18,)"
            R"("leaders":1,"observables":{"big":340282366920938463463374607431768211455,)"
            R"("yes":true,"half":0.5}})");
}

TEST(Rows, QuoteCsvFieldsWhereNecessary) {
  const KnownTrials run;
  const Row row{0,
                {.ending = Ending::limit,
                 .interactions = 20u,
                 .leaders = 4,
                 .observations = {{"seen", std::uint64_t{5}}}}};
  EXPECT_EQ(RowFormat(run).csv_header(),
            "protocol,engine,n,init,seed,trial,converged,interactions,parallel_time,leaders,"
            "params.m,params.mode,observables.seen,observables.unseen");
  EXPECT_EQ(RowFormat(run).csv(row), R"(known,table,10,clean,1,0,false,20,2,4,3,"a,""b""",5,)");
}

TEST(Summary, CountsEndingsAndAveragesConvergedTrials) {
  const KnownTrials run;
  RunSummary summary(run);
  for (const std::uint64_t t : {10u, 20u, 60u}) {
    summary.add({t, {.ending = Ending::converged, .interactions = t, .leaders = 1}});
  }
  summary.add({3, {.ending = Ending::limit, .interactions = 1000u, .leaders = 5}});
  summary.add({4, {.ending = Ending::hopeless, .interactions = 1000u, .leaders = 5}});
  EXPECT_EQ(summary.trials(), 5u);
  EXPECT_EQ(summary.converged(), 3u);
  const std::string json = summary.json();
  EXPECT_NE(json.find(R"("interactions":{"mean":30)"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("limited":1,"hopeless":1)"), std::string::npos) << json;
  EXPECT_NE(summary.table().find("3 of 5 trials converged, 1 reached the limit, 1 can never"),
            std::string::npos)
      << summary.table();
}

}  // namespace
}  // namespace conclave::experiment
