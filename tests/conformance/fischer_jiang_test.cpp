// fischer-jiang and its oracle: every pair of states and the law of every engine against a second
// implementation, for every oracle; lemmas and closed forms by the exact module.
#include "conclave/protocols/population/fischer_jiang.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/error.hpp"
#include "conclave/base/statistics.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/exact/weight.hpp"
#include "conclave/model/oracle.hpp"

#include "tests/support/hitting_law.hpp"
#include "tests/support/naive_fischer_jiang.hpp"

namespace conclave::tests {
namespace {

using catalog::RunRequest;
using catalog::Setting;
using protocols::FischerJiang;
using OracleKind = LeaderOracle::Kind;

TEST(LeaderOracle, TellsTheTruthAtOnceAfterADelayOrAfterItsTime) {
  LeaderOracle immediate(OracleKind::immediate, {});
  LeaderOracle delayed(OracleKind::delay, 10u);
  LeaderOracle silent(OracleKind::silent, 10u);
  for (LeaderOracle* oracle : {&immediate, &delayed, &silent}) oracle->see(true, 4u);
  EXPECT_TRUE(immediate.denies());
  EXPECT_FALSE(delayed.denies());
  EXPECT_EQ(delayed.next_change(), Interactions(14u));
  EXPECT_FALSE(silent.denies());
  EXPECT_EQ(silent.next_change(), Interactions(10u));
  delayed.see(true, 13u);
  EXPECT_FALSE(delayed.denies());
  delayed.see(true, 14u);
  EXPECT_TRUE(delayed.denies());
  delayed.see(false, 15u);
  EXPECT_FALSE(delayed.denies());
  delayed.see(true, 20u);
  EXPECT_EQ(delayed.next_change(), Interactions(30u));
}

TEST(LeaderOracle, ThatLiesIsNotTrustedBeforeItsTime) {
  LeaderOracle lying(OracleKind::lies, 3u);
  lying.see(false, 2u);
  EXPECT_TRUE(lying.denies());
  EXPECT_FALSE(lying.is_trustworthy());
  lying.see(false, 3u);
  EXPECT_FALSE(lying.denies());
  EXPECT_TRUE(lying.is_trustworthy());
  EXPECT_EQ(lying.next_change(), Interactions::max());
}

naive::RingAgent plain_agent(const FischerJiang::State& s) {
  return {s.leader ? 1 : 0, s.bullet ? 1 : 0, s.shield ? 1 : 0};
}

FischerJiang::Parameters ring_reading(unsigned bits) {
  FischerJiang::Parameters parameters;
  if (bits & 1u) parameters.fire = FischerJiang::Fire::first;
  if (bits & 2u) parameters.guard = FischerJiang::Guard::yes;
  if (bits & 4u) parameters.hit = FischerJiang::Hit::pass;
  if (bits & 8u) parameters.ends = FischerJiang::Ends::yes;
  parameters.create = static_cast<FischerJiang::Create>(bits / 16);
  return parameters;
}

naive::FischerJiang naive_reading(unsigned bits) {
  return {.fires_first = (bits & 1u) != 0,
          .guards = (bits & 2u) != 0,
          .passes = (bits & 4u) != 0,
          .initiator_is_made = bits / 16 != 2,
          .responder_is_made = bits / 16 != 1,
          .ends = (bits & 8u) != 0};
}

FischerJiang::State state_of_bits(unsigned bits) {
  return {.leader = (bits & 1u) != 0, .bullet = (bits & 2u) != 0, .shield = (bits & 4u) != 0};
}

// All pairs of states, told or not, in all 48 readings; where the null test says that nothing
// changes, nothing does.
TEST(FischerJiangPairs, FollowTheSecondImplementationInEveryReading) {
  for (unsigned bits = 0; bits < 48; ++bits) {
    const FischerJiang protocol(ring_reading(bits), 5);
    const naive::FischerJiang rule = naive_reading(bits);
    for (unsigned pair = 0; pair < 128; ++pair) {
      const bool is_told = pair >= 64;
      FischerJiang::State l = state_of_bits(pair % 8);
      FischerJiang::State r = state_of_bits(pair / 8 % 8);
      naive::RingAgent a = plain_agent(l);
      naive::RingAgent b = plain_agent(r);
      const bool may_change = protocol.may_change(protocol.pack(l), protocol.pack(r)) != 0;
      exact::EveryWeightedChoice choice;
      if (is_told) {
        protocol.interact_leaderless(l, r, choice);
      } else {
        protocol.interact(l, r, choice);
        const bool changes = !(l == state_of_bits(pair % 8)) || !(r == state_of_bits(pair / 8 % 8));
        EXPECT_EQ(may_change, changes) << pair;
      }
      rule(a, b, is_told);
      ASSERT_EQ(plain_agent(l), a) << "reading " << bits << ", pair " << pair;
      ASSERT_EQ(plain_agent(r), b) << "reading " << bits << ", pair " << pair;
      EXPECT_EQ(protocol.unpack(protocol.pack(l)), l);
    }
  }
}

RunRequest ring_request(std::uint64_t n, const std::string& start,
                        const std::vector<Setting>& settings = {}) {
  return {.n = n, .settings = settings, .start = start, .engine = ""};
}

exact::Report ring_verified(const RunRequest& run) {
  return catalog::find("fischer-jiang").verify({.run = run, .options = {}}).report;
}

TEST(FischerJiangExactly, StabilizesInTheLargestSafeSet) {
  for (const std::uint64_t n : {3u, 4u, 5u}) {
    const exact::Report report = ring_verified(ring_request(n, "random"));
    EXPECT_TRUE(report.all_hold());
    const std::uint64_t safe = 2 * n * ((1u << 2 * n) - 1) / 3;
    EXPECT_EQ(report.safe_set->converged, static_cast<double>(safe));
    EXPECT_EQ(report.safe_set->safe_only, 0);
    EXPECT_EQ(report.safe_set->converged_only, 0);
  }
}

// In a reading in which bullets that meet spare the leader, more is safe than the closed form says.
TEST(FischerJiangExactly, HasMoreSafeConfigurationsWhereALeadersBulletGuardsIt) {
  const exact::Report report = ring_verified(ring_request(3, "random", {{"guard", "1"}}));
  EXPECT_TRUE(report.all_hold());
  EXPECT_EQ(report.safe_set->safe, 141);
  EXPECT_EQ(report.safe_set->converged, 126);
}

TEST(FischerJiangExactly, NeverKillsWhereALeaderFiresFirstAndIsGuarded) {
  const exact::Report report =
      ring_verified(ring_request(3, "all-leaders", {{"guard", "1"}, {"fire", "first"}}));
  EXPECT_FALSE(report.all_hold());
  EXPECT_EQ(report.start.probability, 0);
}

// The bullet goes once round the ring and kills the leader, and a new one is made: n + 1 waits for
// a certain arc, and one interaction.
TEST(FischerJiangExactly, TakesASumOfGeometricWaitsFromOneBareLeader) {
  for (const std::uint64_t n : {3u, 4u, 6u}) {
    const auto size = static_cast<double>(n);
    const exact::Report report =
        ring_verified(ring_request(n, "one-leader-bare", {{"create", "initiator"}}));
    EXPECT_NEAR(report.start.mean, size * size + size + 1, 1e-8);
    EXPECT_NEAR(report.start.variance, (size + 1) * size * (size - 1), 1e-6);
  }
}

TEST(FischerJiangExactly, RefusesOraclesThatErrAndTwoAgents) {
  EXPECT_THROW(ring_verified(ring_request(3, "random", {{"oracle", "delay"}})), Error);
  EXPECT_THROW(ring_verified(ring_request(3, "random", {{"D", "5"}})), Error);
  EXPECT_THROW(ring_verified(ring_request(2, "random")), Error);
}

// Times of trials from this start, by the engine of this name.
std::vector<double> ring_times(RunRequest run, const std::string& engine, std::uint64_t trials) {
  run.engine = engine;
  const auto prepared = catalog::find("fischer-jiang").prepare(run);
  const auto workspace = prepared->workspace();
  return sorted_sample(
      [&](std::uint64_t trial) {
        const TrialResult result =
            prepared->run(trial, *workspace, [](Interactions) { return true; });
        return *result.interactions.as_uint64();
      },
      trials);
}

struct OracleCase {
  std::string start;
  std::string oracle;
  int duration = 0;
};

// The configuration of a named start, with the oracle's clock.
naive::RingConfiguration ring_configuration(const OracleCase& oracle_case, std::size_t n) {
  naive::RingConfiguration ring;
  for (std::size_t i = 0; i < n; ++i) {
    const bool is_one_of_two = i == 0 || i == n / 2;
    if (oracle_case.start == "no-leader") ring.push_back({0, 0, 0});
    if (oracle_case.start == "all-leaders") ring.push_back({1, 0, 0});
    if (oracle_case.start == "two-leaders-two-shields") {
      ring.push_back({is_one_of_two ? 1 : 0, 0, is_one_of_two ? 1 : 0});
    }
    if (oracle_case.start == "safe") ring.push_back({i == 0 ? 1 : 0, 0, i == 0 ? 1 : 0});
  }
  ring.push_back({0, 0, 0});
  return ring;
}

RunRequest oracle_request(const OracleCase& oracle_case, std::size_t n) {
  std::vector<Setting> settings;
  if (oracle_case.oracle != "immediate") {
    settings = {{"oracle", oracle_case.oracle}, {"D", std::to_string(oracle_case.duration)}};
  }
  return ring_request(n, oracle_case.start, settings);
}

TEST(FischerJiangLaws, AreExactInBothEnginesForEveryOracle) {
  for (const OracleCase& each : {OracleCase{"two-leaders-two-shields", "immediate"},
                                 {"all-leaders", "immediate"},
                                 {"all-leaders", "delay", 6},
                                 {"no-leader", "delay", 4},
                                 {"all-leaders", "silent", 60},
                                 {"safe", "lies", 7}}) {
    constexpr std::size_t n = 4;
    const naive::OracleRing ring{{}, each.oracle, each.duration};
    const std::vector<double> cdf = ring.law(ring_configuration(each, n), 300);
    for (const std::string engine : {"agents", "events"}) {
      const TestResult result = fit_of(ring_times(oracle_request(each, n), engine, 2000), cdf);
      EXPECT_GE(result.p_value, rejected_below)
          << each.start << ", oracle " << each.oracle << " by " << engine;
    }
  }
}

// The same test tells an oracle that speaks one interaction too late, and one that forgets that its
// lies count.
TEST(FischerJiangLaws, AreToldApartFromThoseOfOtherOracles) {
  const OracleCase delayed{"no-leader", "delay", 4};
  const naive::OracleRing late{{}, "delay", 5};
  const naive::OracleRing lying{{}, "lies", 4};
  const std::vector<double> sample = ring_times(oracle_request(delayed, 4), "events", 2000);
  EXPECT_LT(fit_of(sample, late.law(ring_configuration(delayed, 4), 300)).p_value, rejected_below);
  EXPECT_LT(fit_of(sample, lying.law(ring_configuration(delayed, 4), 300)).p_value, rejected_below);
}

// With a delay, exactly as much later; at a size where `events` jumps.
TEST(FischerJiangLaws, HaveTheClosedFormAtAnySize) {
  constexpr double n = 80;
  constexpr double trials = 400;
  const double deviation = std::sqrt((n + 1) * n * (n - 1) / trials);
  for (const std::string engine : {"agents", "events"}) {
    const RunRequest plain_run = ring_request(80, "one-leader-bare", {{"create", "initiator"}});
    const RunRequest delayed_run = ring_request(
        80, "one-leader-bare", {{"create", "initiator"}, {"oracle", "delay"}, {"D", "1000"}});
    EXPECT_NEAR(summarize(ring_times(plain_run, engine, 400)).mean, n * n + n + 1, 5 * deviation);
    EXPECT_NEAR(summarize(ring_times(delayed_run, engine, 400)).mean, n * n + n + 1 + 1000,
                5 * deviation);
  }
}

// A schedule that is fair to every arc and not to every configuration: two opposite leaders with a
// shield each stay for ever. The protocol needs more than fairness to arcs.
TEST(FischerJiang, KeepsTwoLeadersForEverUnderASymmetricSchedule) {
  for (const std::size_t n : {4u, 6u, 16u}) {
    const OracleCase two{"two-leaders-two-shields", "immediate"};
    naive::RingConfiguration ring = ring_configuration(two, n);
    const naive::OracleRing rule{};
    for (std::size_t step = 0; step < 50 * n; ++step) {
      ring = rule.after(rule.after(ring, step % (n / 2)), step % (n / 2) + n / 2);
      ASSERT_EQ(naive::OracleRing::leaders(ring), 2) << n;
    }
  }
}

// A fault that kills the leader wakes the oracle, in both engines.
TEST(FischerJiang, RecoversFromFaults) {
  for (const std::string engine : {"agents", "events"}) {
    RunRequest run = ring_request(70, "safe", {{"oracle", "delay"}, {"D", "50"}});
    run.engine = engine;
    run.plan.faults = {
        {.text = "kill-leaders@3", .kind = FaultKind::kill_leaders, .parallel_time = 3}};
    const auto prepared = catalog::find("fischer-jiang").prepare(run);
    const auto workspace = prepared->workspace();
    const TrialResult result = prepared->run(0, *workspace, [](Interactions) { return true; });
    ASSERT_EQ(result.faults.size(), 1u);
    EXPECT_TRUE(result.faults[0].recovered) << engine;
    EXPECT_GT(result.faults[0].recovery, Interactions(50u));
  }
}

}  // namespace
}  // namespace conclave::tests
