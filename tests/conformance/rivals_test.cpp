// The rivals of the papers' tables: every pair of states against a second implementation, exact
// times against that implementation and against closed forms, their lemmas, and all engines against
// the exact law of the time.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/error.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/exact/weight.hpp"
#include "conclave/experiment/paper_table.hpp"
#include "conclave/protocols/population/ag_minions.hpp"
#include "conclave/protocols/population/ciw.hpp"
#include "conclave/protocols/population/optimal_silent.hpp"
#include "conclave/protocols/population/timers.hpp"

#include "tests/support/hitting_law.hpp"
#include "tests/support/naive_rivals.hpp"
#include "tests/support/state_table.hpp"

namespace conclave::tests {
namespace {

using catalog::RunRequest;
using catalog::Setting;
using protocols::AgMinions;
using protocols::Ciw;
using protocols::OptimalSilent;
using protocols::Timers;

naive::Agent plain(const Ciw::State& s) { return {static_cast<int>(s.rank)}; }
naive::Agent plain(const Timers::State& s) { return {s.leader ? 1 : 0, static_cast<int>(s.timer)}; }
naive::Agent plain(const AgMinions::State& s) {
  return {s.leader ? static_cast<int>(s.value) : -static_cast<int>(s.value)};
}
naive::Agent plain(const OptimalSilent::State& s) {
  const int number = static_cast<int>(s.number);
  if (s.is(OptimalSilent::Duty::settled)) return {0, number, s.children, 0};
  if (s.is(OptimalSilent::Duty::unsettled)) return {1, number, 0, 0};
  return {2, number, static_cast<int>(s.delay), s.leader ? 1 : 0};
}

// Every ordered pair of states, and as many states as the formula says.
template <class P>
void expect_pairs_to_follow(const P& protocol, const naive::Rule& rule) {
  const auto states = arbitrary_states(protocol);
  EXPECT_EQ(Interactions(states.size()), protocol.state_count());
  for (const auto& u : states) {
    for (const auto& v : states) {
      auto new_u = u;
      auto new_v = v;
      exact::EveryWeightedChoice choice;
      protocol.interact(new_u, new_v, choice);
      EXPECT_FALSE(choice.next()) << "a choice is made";
      naive::Agent a = plain(u);
      naive::Agent b = plain(v);
      rule(a, b);
      ASSERT_EQ(plain(new_u), a) << to_text(u) << " meets " << to_text(v);
      ASSERT_EQ(plain(new_v), b) << to_text(u) << " meets " << to_text(v);
    }
  }
}

OptimalSilent::Parameters toy(std::uint64_t r, std::uint64_t d, std::uint64_t e) {
  OptimalSilent::Parameters parameters;
  parameters.r_max = r;
  parameters.d_max = d;
  parameters.e_max = e;
  return parameters;
}

TEST(RivalPairs, OfCiwFollowTheSecondImplementation) {
  for (const int n : {2, 3, 7}) {
    expect_pairs_to_follow(Ciw({}, static_cast<AgentCount>(n)), naive::ciw(n));
  }
}

TEST(RivalPairs, OfTimersFollowTheSecondImplementationInEveryReading) {
  const std::vector<std::string> names{"first", "both", "ppl", "late"};
  for (std::size_t reading = 0; reading < names.size(); ++reading) {
    for (const std::uint64_t t_max : {1u, 2u, 5u}) {
      Timers::Parameters parameters;
      parameters.t_max = t_max;
      parameters.reading = static_cast<Timers::Reading>(reading);
      SCOPED_TRACE(names[reading]);
      expect_pairs_to_follow(Timers(parameters, 3),
                             naive::timers(static_cast<int>(t_max), names[reading]));
    }
  }
}

TEST(RivalPairs, OfAgMinionsFollowTheSecondImplementation) {
  for (const std::uint64_t m : {1u, 2u, 5u}) {
    for (const bool contender : {false, true}) {
      AgMinions::Parameters parameters;
      parameters.m = m;
      parameters.tie = contender ? AgMinions::Tie::contender : AgMinions::Tie::first;
      expect_pairs_to_follow(AgMinions(parameters, 3),
                             naive::ag_minions(static_cast<int>(m), contender));
    }
  }
}

TEST(RivalPairs, OfOptimalSilentFollowTheSecondImplementationInEveryReading) {
  for (const auto& [n, r, d, e] : {std::tuple{2, 1, 1, 1}, {3, 2, 3, 2}, {6, 3, 2, 4}}) {
    for (const auto reading :
         {OptimalSilent::Reading::exclusive, OptimalSilent::Reading::fall_through,
          OptimalSilent::Reading::negative_delay, OptimalSilent::Reading::joins_as_follower,
          OptimalSilent::Reading::initiator_only}) {
      OptimalSilent::Parameters parameters =
          toy(static_cast<std::uint64_t>(r), static_cast<std::uint64_t>(d),
              static_cast<std::uint64_t>(e));
      parameters.reading = reading;
      const naive::OptimalSilent rule{
          .n = n,
          .r_max = r,
          .d_max = d,
          .e_max = e,
          .falls_through = reading == OptimalSilent::Reading::fall_through,
          .goes_below_zero = reading == OptimalSilent::Reading::negative_delay,
          .joins_as_follower = reading == OptimalSilent::Reading::joins_as_follower,
          .needs_a_resetting_initiator = reading == OptimalSilent::Reading::initiator_only};
      expect_pairs_to_follow(OptimalSilent(parameters, static_cast<AgentCount>(n)), rule);
    }
  }
}

RunRequest request(std::uint64_t n, const std::string& start,
                   const std::vector<Setting>& settings = {}) {
  return {.n = n, .settings = settings, .start = start, .engine = ""};
}

exact::Report verified(const std::string& protocol, const RunRequest& run,
                       std::uint64_t steps = 0) {
  return catalog::find(protocol)
      .verify({.run = run, .options = {.distribution_steps = steps}})
      .report;
}

void expect_all_hold(const exact::Report& report) {
  for (const exact::ClaimReport& claim : report.claims) {
    EXPECT_FALSE(claim.fails()) << claim.name << ": " << claim.problem;
  }
}

const exact::Verdict& verdict(const exact::Report& report, const std::string& name) {
  const auto found = std::ranges::find(report.claims, name, &exact::ClaimReport::name);
  EXPECT_NE(found, report.claims.end()) << name;
  return found->verdict;
}

// One agent is pushed past all others: n - 1 moves, each waiting for the only two agents that can.
TEST(CiwExactly, TakesHalfOfNTimesTheSquareOfNMinusOneFromTheBarrier) {
  for (const std::uint64_t n : {2u, 3u, 6u, 8u}) {
    const exact::Report report = verified("ciw", request(n, "barrier"));
    expect_all_hold(report);
    EXPECT_EQ(verdict(report, "moves"), exact::Verdict::holds);
    const auto size = static_cast<double>(n);
    EXPECT_NEAR(report.start.mean, size * (size - 1) * (size - 1) / 2, 1e-8);
  }
}

TEST(CiwExactly, HasTheTimesOfTheSecondImplementation) {
  const naive::IsDone all_differ = [](const naive::Configuration& agents) {
    return std::ranges::adjacent_find(agents) == agents.end();
  };
  const double mean = naive::expected_steps(naive::Configuration(5), naive::ciw(5), all_differ);
  EXPECT_NEAR(verified("ciw", request(5, "equal")).start.mean, mean, 1e-8 * mean);
}

TEST(TimersExactly, MakeALeaderOfTwoAfterExactlyTMaxInteractions) {
  for (const std::uint64_t t_max : {1u, 4u, 9u}) {
    const exact::Report report =
        verified("timers", request(2, "no-leader", {{"t_max", std::to_string(t_max)}}));
    expect_all_hold(report);
    EXPECT_NEAR(report.start.mean, static_cast<double>(t_max), 1e-9);
    EXPECT_NEAR(report.start.variance, 0, 1e-9);
  }
}

// The leaders fight as in fratricide. The time is a little shorter or longer only where the timers
// of two followers run down to half before.
TEST(TimersExactly, TakeTheSquareOfNMinusOneFromAllLeaders) {
  for (const std::uint64_t n : {2u, 3u}) {
    const RunRequest run = request(n, "all-leaders", {{"t_max", "30"}});
    const exact::Report report =
        catalog::find("timers")
            .verify({.run = run, .options = {.extent = exact::Extent::start}})
            .report;
    const auto root = static_cast<double>(n - 1);
    EXPECT_NEAR(report.start.mean, root * root, 1e-4) << n;
  }
}

TEST(TimersExactly, HaveTheTimesOfTheSecondImplementation) {
  for (const std::string reading : {"first", "both", "ppl", "late"}) {
    const naive::IsDone is_safe = [](const naive::Configuration& agents) {
      return std::ranges::count(agents, 1, [](const auto& agent) { return agent[0]; }) == 1 &&
             std::ranges::all_of(agents, [](const auto& agent) { return 2 * agent[1] >= 3; });
    };
    const double mean =
        naive::expected_steps(naive::Configuration(4, {0, 3}), naive::timers(3, reading), is_safe);
    const exact::Report report =
        verified("timers", request(4, "no-leader", {{"t_max", "3"}, {"reading", reading}}));
    EXPECT_NEAR(report.start.mean, mean, 1e-8 * mean) << reading;
  }
}

TEST(AgMinionsExactly, HasTheTimesOfTheSecondImplementationAndKeepsALeader) {
  const naive::IsDone one_leads = [](const naive::Configuration& agents) {
    return std::ranges::count_if(agents, [](const auto& agent) { return agent[0] > 0; }) == 1;
  };
  for (const std::string tie : {"first", "contender"}) {
    const double mean = naive::expected_steps(naive::Configuration(5, {1}),
                                              naive::ag_minions(3, tie == "contender"), one_leads);
    const exact::Report report = verified("ag-minions", request(5, "", {{"m", "3"}, {"tie", tie}}));
    expect_all_hold(report);
    EXPECT_EQ(verdict(report, "invariant"), exact::Verdict::holds);
    EXPECT_NEAR(report.start.mean, mean, 1e-8 * mean) << tie;
  }
}

// Two agents do everything together: the phases follow each other, each as long as its constant.
TEST(OptimalSilentExactly, IsASumOfItsConstantsForTwoAgents) {
  const std::vector<Setting> settings{{"R_max", "3"}, {"D_max", "4"}, {"E_max", "5"}};
  const exact::Report waiting = verified("optimal-silent", request(2, "unsettled", settings));
  EXPECT_NEAR(waiting.start.mean, 5 + 3 + 4 + 1, 1e-9);
  EXPECT_NEAR(waiting.start.variance, 0, 1e-9);
  const exact::Report collision = verified("optimal-silent", request(2, "rank1", settings));
  EXPECT_NEAR(collision.start.mean, 1 + 3 + 4 + 1, 1e-9);
  expect_all_hold(collision);
}

TEST(OptimalSilentExactly, HasTheTimesOfTheSecondImplementation) {
  const naive::IsDone is_ranking = [](const naive::Configuration& agents) {
    const bool are_settled =
        std::ranges::all_of(agents, [](const auto& agent) { return agent[0] == 0; });
    const auto same_rank = [](const auto& a, const auto& b) { return a[1] == b[1]; };
    return are_settled && std::ranges::adjacent_find(agents, same_rank) == agents.end();
  };
  for (const std::string reading :
       {"exclusive", "fall-through", "joins-as-follower", "initiator-only"}) {
    const naive::OptimalSilent rule{.n = 3,
                                    .r_max = 2,
                                    .d_max = 2,
                                    .e_max = 3,
                                    .falls_through = reading == "fall-through",
                                    .joins_as_follower = reading == "joins-as-follower",
                                    .needs_a_resetting_initiator = reading == "initiator-only"};
    const double mean =
        naive::expected_steps(naive::Configuration(3, {0, 1, 0, 0}), rule, is_ranking);
    const exact::Report report =
        verified("optimal-silent",
                 request(3, "rank1",
                         {{"R_max", "2"}, {"D_max", "2"}, {"E_max", "3"}, {"reading", reading}}));
    expect_all_hold(report);
    EXPECT_EQ(verdict(report, "tree"), exact::Verdict::holds);
    EXPECT_NEAR(report.start.mean, mean, 1e-8 * mean) << reading;
  }
}

// Erratum 1.
TEST(OptimalSilentExactly, NeverStabilizesFromSomewhereWithDelaysBelowZero) {
  const exact::Report report = verified(
      "optimal-silent",
      request(3, "dormant-0",
              {{"R_max", "1"}, {"D_max", "1"}, {"E_max", "1"}, {"reading", "negative-delay"}}));
  EXPECT_EQ(verdict(report, "stabilization"), exact::Verdict::fails);
  EXPECT_EQ(report.start.probability, 0);
}

// Trials of every engine against the law that verify computes.
void expect_law(const std::string& protocol, RunRequest run) {
  const catalog::Entry entry = catalog::find(protocol);
  const std::vector<double> cdf = verified(protocol, run, 3000).distribution;
  for (const catalog::EngineInfo& engine : entry.engines) {
    if (engine.name == "gpu") continue;
    run.engine = engine.name;
    const auto prepared = entry.prepare(run);
    const auto workspace = prepared->workspace();
    const auto sampler = [&](std::uint64_t trial) {
      const TrialResult result =
          prepared->run(trial, *workspace, [](Interactions) { return true; });
      return *result.interactions.as_uint64();
    };
    const TestResult result = fit_of(sorted_sample(sampler, 2000), cdf);
    EXPECT_GE(result.p_value, rejected_below)
        << protocol << " by " << engine.name << ": chi-square " << result.statistic;
  }
}

TEST(RivalLaws, AreExactInEveryEngine) {
  expect_law("ciw", request(5, "equal"));
  expect_law("timers", request(4, "no-leader", {{"t_max", "5"}}));
  expect_law("timers", request(4, "all-zero", {{"t_max", "4"}, {"reading", "both"}}));
  expect_law("ag-minions", request(6, "", {{"m", "4"}}));
  expect_law("optimal-silent",
             request(3, "random", {{"R_max", "2"}, {"D_max", "2"}, {"E_max", "3"}}));
}

TEST(PaperTables, NameProtocolsOfTheCatalogOrSayWhyNot) {
  for (const char* name : {"electleader", "kmpp", "pll", "ppl", "prl"}) {
    const experiment::PaperTable& table = experiment::find_paper_table(name);
    std::size_t runnable = 0;
    for (const experiment::PromisedRow& row : table.rows) {
      EXPECT_EQ(row.protocol.empty(), !row.reason().empty()) << row.work;
      if (row.protocol.empty()) continue;
      EXPECT_NO_THROW(catalog::find(row.protocol)) << row.work;
      ++runnable;
    }
    EXPECT_GE(runnable, 1u) << table.name;
  }
}

TEST(PaperTables, AreMeasuredSizeBySize) {
  const std::atomic<bool> stop = false;
  const auto& table = experiment::find_paper_table("electleader");
  const auto rows = experiment::measure_table(table, {.sizes = {"8", "2"}, .trials = 3}, stop);
  ASSERT_EQ(rows.size(), 2 * table.rows.size());
  for (const experiment::MeasuredRow& row : rows) {
    if (row.row->protocol.empty()) {
      EXPECT_EQ(row.refusal, row.row->reason());
    } else {
      EXPECT_EQ(row.refusal, "");
      EXPECT_EQ(row.converged, 3u);
      EXPECT_GE(row.amount.mean, 0);
    }
  }
  EXPECT_EQ(rows.front().n, Interactions(8u));
  EXPECT_EQ(rows.front().states, Interactions(8u));
}

TEST(PaperTables, RefuseWhatNoRowCanDo) {
  const std::atomic<bool> stop = false;
  const auto& table = experiment::find_paper_table("ppl");
  EXPECT_THROW(
      experiment::measure_table(table, {.sizes = {"8"}, .words = {.init = "no such start"}}, stop),
      Error);
  EXPECT_THROW(experiment::find_paper_table("plll"), Error);
}

// A start that one protocol has and another has not: the other says so.
TEST(PaperTables, LeaveOutProtocolsWithoutTheStart) {
  const std::atomic<bool> stop = false;
  const auto& table = experiment::find_paper_table("ppl");
  const auto rows = experiment::measure_table(
      table, {.sizes = {"4"}, .trials = 1, .words = {.init = "barrier"}}, stop);
  for (const experiment::MeasuredRow& row : rows) {
    EXPECT_EQ(row.refusal.empty(), row.row->protocol == "ciw") << row.row->work;
  }
}

}  // namespace
}  // namespace conclave::tests
