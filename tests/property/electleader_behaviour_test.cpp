// ElectLeader_r and its parts: what the paper claims, and how the readings fail that do not work.
#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/random.hpp"
#include "conclave/base/statistics.hpp"
#include "conclave/model/fault.hpp"
#include "conclave/protocols/population/electleader/parts.hpp"

#include "tests/support/electleader_definitions.hpp"
#include "tests/support/run_trial.hpp"

namespace conclave::tests {
namespace {

using Whole = el::ElectLeader<el::LazyMessages>;
using Engine = population::Stepping<Whole>;
static_assert(CorruptibleConfiguration<Whole> && PopulationEngine<Engine>);

// The archetype of a Configuration: even agents lead; it has converged after `wanted` meetings.
struct CountsMeetings {
  struct Parameters {
    std::uint64_t wanted = 10;
  };
  static constexpr ProtocolInfo info{};
  static constexpr std::array starts{Start{"clean", "no meeting so far"}};
  static std::string objection(const Parameters&, AgentCount) { return {}; }

  CountsMeetings(const Parameters& parameters, AgentCount n, std::size_t, Stream&)
      : wanted(parameters.wanted), times_struck(n) {}
  void meet(AgentCount u, AgentCount v, Interactions number, Stream&) {
    EXPECT_NE(u, v);
    EXPECT_EQ(number, Interactions(++meetings));
  }
  AgentCount size() const { return times_struck.size(); }
  AgentCount leaders() const { return (size() + 1) / 2; }
  bool is_leader(AgentCount u) const { return u % 2 == 0; }
  bool converged() const { return meetings >= wanted; }
  bool hopeless() const { return false; }
  std::vector<Observation> observations() const { return {}; }
  void strike(AgentCount u, FaultKind, Stream&) { ++times_struck[u]; }

  std::uint64_t wanted;
  std::uint64_t meetings = 0;
  std::vector<int> times_struck;
};

TEST(Stepping, StopsAtTheVeryInteraction) {
  population::Stepping<CountsMeetings> engine({.wanted = 777}, 5, 0, {.seed = 1});
  EXPECT_EQ(engine.advance(700u), Interactions(700u));
  EXPECT_EQ(engine.advance(Interactions::max()), Interactions(77u));
  EXPECT_TRUE(engine.has_stopped());
  engine.watch(Watch::nothing);
  EXPECT_EQ(engine.advance(1000u), Interactions(1000u));
  EXPECT_EQ(engine.now(), Interactions(1777u));
}

TEST(Stepping, StrikesAsManyAsWantedOfThoseThatCanBeHit) {
  const auto struck = [](FaultKind kind, double amount, bool leaders) {
    population::Stepping<CountsMeetings> engine({}, 101, 0, {.seed = 1});
    const AgentCount told = engine.strike({.text = "", .kind = kind, .amount = amount});
    AgentCount seen = 0;
    const std::vector<int>& times = engine.configuration().times_struck;
    for (std::size_t u = 0; u < times.size(); ++u) {
      EXPECT_TRUE(times[u] == 0 || kind <= FaultKind::zero || (u % 2 == 0) == leaders);
      seen += static_cast<AgentCount>(times[u]);
    }
    EXPECT_EQ(seen, told);
    return told;
  };
  EXPECT_EQ(struck(FaultKind::corrupt, 7, false), 7u);
  EXPECT_EQ(struck(FaultKind::zero, 500, false), 101u);
  EXPECT_EQ(struck(FaultKind::kill_leaders, 0, true), 51u);
  EXPECT_EQ(struck(FaultKind::make_leaders, 3, false), 3u);
}

el::Parameters small_constants(const ElectLeaderCase& size) {
  el::Parameters parameters = electleader_parameters(size);
  parameters.preset = el::Preset::small;
  return parameters;
}

TEST(ElectLeader, ReachesTheSafeSetWithOneLeaderFromEveryStart) {
  for (const ElectLeaderCase& size : {ElectLeaderCase{64, 1},
                                      {64, 2},
                                      {64, 8},
                                      {64, 32},
                                      {17, 2},
                                      {2, 1},
                                      {3, 1},
                                      {5, 2},
                                      {50, 13}}) {
    for (std::size_t start = 0; start < el::Starts::table.size(); ++start) {
      for (std::uint64_t trial = 0; trial < 5; ++trial) {
        Engine engine(small_constants(size), size.n, start, {.seed = 2, .trial = trial});
        engine.advance(20'000'000u);
        EXPECT_TRUE(engine.converged()) << case_name(size, start) << " trial " << trial;
        EXPECT_EQ(engine.leaders(), 1u) << case_name(size, start) << " trial " << trial;
      }
    }
  }
}

TEST(ElectLeader, RecoversFromEveryKindOfFault) {
  const ElectLeaderCase size{32, 8};
  for (const FaultKind kind :
       {FaultKind::corrupt, FaultKind::zero, FaultKind::kill_leaders, FaultKind::make_leaders}) {
    Fault fault{.text = "fault", .kind = kind, .amount = 5};
    fault.after_convergence = true;
    fault.parallel_time = 20;
    Engine engine(small_constants(size), size.n, el::Starts::clean, {.seed = 4});
    TrialPlan plan;
    plan.faults = {fault};
    const TrialResult result =
        population::run_trial(engine, plan, [](Interactions) { return true; });
    ASSERT_EQ(result.faults.size(), 1u);
    EXPECT_TRUE(result.faults[0].recovered);
    EXPECT_EQ(result.faults[0].agents, kind == FaultKind::kill_leaders ? 1u : 5u);
    EXPECT_EQ(engine.leaders(), 1u);
    if (kind == FaultKind::kill_leaders) {
      EXPECT_EQ(result.faults[0].leaders, 0u);
    } else if (kind == FaultKind::make_leaders) {
      EXPECT_EQ(result.faults[0].leaders, 6u);
    }
  }
}

TEST(ElectLeader, DividesTheRanksIntoGroupsOfHalfToWholeSize) {
  for (std::uint32_t n = 2; n <= 120; ++n) {
    for (std::uint32_t r = 1; r <= std::max(1u, n / 2); ++r) {
      const el::Groups groups(n, r);  // checks the sizes
      std::uint32_t rank = 1;
      for (std::uint32_t group = 0; group < groups.count(); ++group) {
        for (std::uint32_t k = 0; k < groups.size_of(group); ++k, ++rank) {
          EXPECT_EQ(groups.of_rank(rank), (el::Standing{group, k}));
        }
      }
      EXPECT_EQ(rank, n + 1);
    }
  }
}

TEST(ElectLeader, ObjectsToParametersThatDoNotFit) {
  const auto objection = [](std::uint64_t n, auto change) {
    el::Parameters parameters;
    change(parameters);
    parameters.resolve(n);
    return Whole::objection(parameters, n);
  };
  EXPECT_EQ(objection(64, [](auto&) {}), "");
  EXPECT_NE(objection(64, [](auto& p) { p.r = 33; }).find("r <= 32"), std::string::npos);
  EXPECT_EQ(objection(3, [](auto& p) { p.r = 1; }), "");
  EXPECT_NE(objection(64, [](auto& p) { p.c_s = 0; }).find("positive"), std::string::npos);
  EXPECT_NE(objection(64, [](auto& p) { p.c_labels = 0.5; }).find("c_labels"), std::string::npos);
  EXPECT_NE(objection(1 << 22, [](auto&) {}).find("2^21"), std::string::npos);
  EXPECT_NE(objection(64,
                      [](auto& p) {
                        p.derandomize = el::Derandomize::yes;
                        p.d_max = 2;
                      })
                .find("4.33"),
            std::string::npos);
}

// Ranks become a permutation at the first attempt, except for ties of identifiers (erratum 23).
std::uint64_t first_attempts(const ElectLeaderCase& size, std::size_t start, el::Reading reading,
                             el::Derandomize derandomize, std::uint64_t trials) {
  el::Parameters parameters = electleader_parameters(size);
  parameters.reading = reading;
  parameters.derandomize = derandomize;
  std::uint64_t successes = 0;
  for (std::uint64_t trial = 0; trial < trials; ++trial) {
    Engine engine(parameters, size.n, start, {.seed = 6, .trial = trial});
    engine.advance(60'000u);
    successes += engine.converged() && engine.configuration().history().full_resets() == 0;
  }
  return successes;
}

TEST(ElectLeaderReadings, RankAtTheFirstAttemptOnlyIfRead) {
  const auto random = el::Derandomize::no;
  const ElectLeaderCase size{16, 4};
  const auto clean = el::Starts::clean;
  EXPECT_GE(first_attempts(size, clean, el::Reading::working, random, 200), 197u);
  EXPECT_EQ(first_attempts(size, clean, el::Reading::other_recipient, random, 20), 0u);
  EXPECT_LE(first_attempts(size, clean, el::Reading::losers_leave, random, 100), 40u);
  EXPECT_LE(first_attempts({64, 16}, clean, el::Reading::no_guard, random, 50), 25u);
  EXPECT_EQ(first_attempts(size, clean, el::Reading::no_sleep_timer, random, 20), 0u);
  const ElectLeaderCase single{16, 1};
  EXPECT_GE(first_attempts(single, clean, el::Reading::working, random, 20), 19u);
  EXPECT_EQ(first_attempts(single, clean, el::Reading::split_last_badge, random, 20), 0u);
}

// Erratum 59: a sheriff halves its badges with a recipient, not with an agent in leader election,
// which becomes a recipient first.
TEST(ElectLeaderReadings, SheriffsGiveNoBadgesToAgentsInLeaderElection) {
  const el::AssignRanks ranking({electleader_parameters({16, 4}), 16});
  el::Agent sheriff;
  sheriff.ranker = {.type = el::Type::sheriff, .low = 1, .high = 4, .channel = {0, 0, 0, 0}};
  el::Agent other;
  Stream unused({.seed = 1});
  ranking.interact(sheriff, other, unused);
  EXPECT_EQ(other.ranker.type, el::Type::recipient);
  EXPECT_EQ(sheriff.ranker.high, 4u);
  ranking.interact(sheriff, other, unused);
  EXPECT_EQ(sheriff.ranker.high, 2u);
  EXPECT_EQ(other.ranker.low, 3u);
}

TEST(ElectLeaderReadings, DormantAgentsWithoutDelayWakeUpOnlyIfItStaysAtZero) {
  const ElectLeaderCase size{16, 4};
  const auto random = el::Derandomize::no;
  const auto dormant0 = el::Starts::dormant0;
  EXPECT_GE(first_attempts(size, dormant0, el::Reading::working, random, 20), 19u);
  EXPECT_EQ(first_attempts(size, dormant0, el::Reading::negative_delay, random, 20), 0u);
}

// Erratum 46: with coins, identifiers drawn at the first activation are often all the same.
TEST(ElectLeaderReadings, CoinsMakeIdentifiersOnlyIfEnoughHaveBeenSeen) {
  const ElectLeaderCase size{16, 4};
  const auto coins = el::Derandomize::yes;
  EXPECT_GE(first_attempts(size, el::Starts::clean, el::Reading::working, coins, 100), 98u);
  EXPECT_LE(first_attempts(size, el::Starts::clean, el::Reading::early_identifier, coins, 100),
            70u);
  EXPECT_GE(first_attempts(size, el::Starts::triggered, el::Reading::working, coins, 50), 48u);
}

// Erratum 28: without the return, the epidemic of a soft reset ends in a full one.
TEST(ElectLeaderReadings, SoftResetsNeedTheirReturn) {
  const ElectLeaderCase size{16, 8};
  el::Parameters parameters = electleader_parameters(size);
  parameters.reading = el::Reading::no_return;
  for (std::uint64_t trial = 0; trial < 20; ++trial) {
    Engine engine(parameters, size.n, el::Starts::correct_corrupt, {.seed = 1, .trial = trial});
    engine.watch(Watch::nothing);
    engine.advance(2000u);
    EXPECT_GT(engine.configuration().history().full_resets(), 0u);
  }
}

// Erratum 18 and Observation D.1: never two equal labels, never more than n in a channel, and who
// sleeps knows of n. Holds in every run with one sheriff.
TEST(AssignRanks, HandsOutEveryLabelOnce) {
  for (const ElectLeaderCase& size : {ElectLeaderCase{16, 4}, {16, 1}, {31, 15}, {9, 2}}) {
    Engine engine(electleader_parameters(size), size.n, el::Starts::clean, {.seed = 9});
    engine.watch(Watch::nothing);
    std::size_t most_labels = 0;
    for (int step = 0; step < 3000; ++step) {
      engine.advance(1u);
      std::set<std::pair<std::uint32_t, std::uint32_t>> labels;
      for (std::uint32_t u = 0; u < size.n; ++u) {
        const el::Ranker& ranker = engine.configuration().agent(u).ranker;
        if (!ranker.has_channel()) continue;
        EXPECT_LE(ranker.sum, size.n);
        std::uint64_t sum = 0;
        for (const std::uint32_t labels_given : ranker.channel) sum += labels_given;
        EXPECT_EQ(ranker.sum, sum);
        EXPECT_TRUE(ranker.type != el::Type::sleeper || sum == size.n);
        if (ranker.label.is_none()) continue;
        EXPECT_TRUE(labels.insert({ranker.label.deputy, ranker.label.number}).second);
      }
      most_labels = std::max(most_labels, labels.size());
    }
    EXPECT_EQ(most_labels, size.n) << "n=" << size.n << " r=" << size.r;
  }
}

// Ends of a part alone: how many of the trials succeeded; the others must be known to be hopeless.
template <class Part>
int successes(const typename Part::Parameters& parameters, std::uint64_t n, std::size_t start,
              int trials) {
  int converged = 0;
  for (int trial = 0; trial < trials; ++trial) {
    population::Stepping<Part> engine(parameters, n, start,
                                      {.seed = 3, .trial = static_cast<std::uint64_t>(trial)});
    engine.advance(10'000'000u);
    EXPECT_TRUE(engine.has_stopped());
    converged += engine.converged();
  }
  return converged;
}

TEST(AssignRanks, AloneSucceedsOrKnowsThatItCannot) {
  el::AssignRanksAlone::Parameters parameters;
  parameters.r = 16;
  EXPECT_GE(successes<el::AssignRanksAlone>(parameters, 64, 0, 100), 99);
  parameters.c_sleep = 2;  // 713 of 1000 in an independent implementation
  const int impatient = successes<el::AssignRanksAlone>(parameters, 64, 0, 200);
  EXPECT_GE(impatient, 110);
  EXPECT_LE(impatient, 174);
  parameters.c_sleep = 8;
  parameters.c_le = 1;
  EXPECT_LE(successes<el::AssignRanksAlone>(parameters, 64, 0, 100), 75);
  parameters.reading = el::Reading::losers_leave;
  EXPECT_LE(successes<el::AssignRanksAlone>(parameters, 64, 0, 50), 25);
}

// One trigger reaches at most 2^R_max agents, since every meeting lowers the largest resetCount.
TEST(PropagateReset, AlonePutsAllToSleepIfItsConstantsAreLarge) {
  const auto all_dormant = [](double r_max, double d_max) {
    el::PropagateResetAlone::Parameters parameters;
    parameters.resolve(64);
    parameters.r_max = r_max;
    parameters.d_max = d_max;
    int dormant = 0;
    for (std::uint64_t trial = 0; trial < 100; ++trial) {
      population::Stepping<el::PropagateResetAlone> engine(parameters, 64, 0,
                                                           {.seed = 3, .trial = trial});
      engine.advance(10'000'000u);
      EXPECT_TRUE(engine.converged());
      dormant += std::get<bool>(engine.observations()[0].value);
    }
    return dormant;
  };
  EXPECT_EQ(all_dormant(8, 16), 100);
  EXPECT_LE(all_dormant(2, 4), 10);
  EXPECT_EQ(all_dormant(1, 2), 0);
  el::PropagateResetAlone::Parameters parameters;
  parameters.resolve(64);
  for (const std::size_t start : {0u, 1u, 2u}) {
    EXPECT_EQ(successes<el::PropagateResetAlone>(parameters, 64, start, 20), 20);
  }
}

// Without messages, two agents of one rank must meet: a geometric law.
std::vector<double> detection_times(std::uint32_t n, std::uint64_t trials) {
  using Alone = el::DetectCollisionAlone<el::LazyMessages>;
  Alone::Parameters parameters;
  parameters.r = 1;
  std::vector<double> times;
  for (std::uint64_t trial = 0; trial < trials; ++trial) {
    population::Stepping<Alone> engine(parameters, n, 0, {.seed = 8, .trial = trial});
    engine.advance(Interactions::max());
    times.push_back(engine.now().as_double());
  }
  return times;
}

TestResult fit_geometric(const std::vector<double>& times, double p) {
  const std::size_t most = 400;
  std::vector<double> observed(most + 1);
  std::vector<double> expected(most + 1);
  const auto trials = static_cast<double>(times.size());
  for (const double time : times) {
    ++observed[std::min<std::size_t>(static_cast<std::size_t>(time) - 1, most)];
  }
  double left = 1;
  for (std::size_t k = 0; k < most; ++k) {
    expected[k] = trials * left * p;
    left *= 1 - p;
  }
  expected[most] = trials * left;
  const Buckets buckets = pool_buckets(observed, expected);
  return chi_square(buckets.observed, buckets.expected);
}

TEST(DetectCollision, WithoutMessagesIsTheTimeUntilTwoAgentsMeet) {
  constexpr std::uint32_t n = 12;
  const std::vector<double> times = detection_times(n, 20'000);
  EXPECT_GT(fit_geometric(times, 2.0 / (n * (n - 1))).p_value, 1e-6);
  EXPECT_LT(fit_geometric(times, 1.0 / (n * (n - 1))).p_value, 1e-6);  // as if pairs were ordered
  EXPECT_LT(fit_geometric(times, 2.0 / (n * n)).p_value, 1e-6);        // as if drawn with return
}

// Lemma E.1 (a): no error is ever raised after a correct start, whatever happens.
TEST(DetectCollision, RaisesNoFalseAlarm) {
  for (const ElectLeaderCase& size : {ElectLeaderCase{12, 6}, {9, 4}, {20, 10}}) {
    Engine engine(lively_parameters(size), size.n, el::Starts::correct, {.seed = 21});
    engine.watch(Watch::nothing);
    engine.advance(200'000u);
    EXPECT_EQ(engine.configuration().history().full_resets(), 0u);
    EXPECT_EQ(engine.configuration().history().soft_resets(), 0u);
  }
}

// Lemma E.1 (b), by messages long before the two agents of one rank meet.
TEST(DetectCollision, FindsADuplicateLongBeforeTheTwoMeet) {
  using Alone = el::DetectCollisionAlone<el::LazyMessages>;
  Alone::Parameters parameters;
  parameters.r = 64;
  parameters.c_s = 1;
  double sum = 0;
  constexpr int trials = 50;
  for (std::uint64_t trial = 0; trial < trials; ++trial) {
    population::Stepping<Alone> engine(parameters, 128, 0, {.seed = 5, .trial = trial});
    engine.advance(Interactions::max());
    sum += engine.now().as_double();
  }
  EXPECT_LT(sum / trials, 128.0 * 127.0 / 2 / 4);
}

}  // namespace
}  // namespace conclave::tests
