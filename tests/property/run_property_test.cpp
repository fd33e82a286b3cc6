// One trial of every engine with every protocol: the way it is cut into pieces does not matter,
// faults strike whom, when and as many as they should, and a trace changes nothing.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/statistics.hpp"
#include "conclave/model/fault.hpp"
#include "conclave/model/graph.hpp"
#include "conclave/model/trial.hpp"
#include "conclave/population/agents.hpp"
#include "conclave/population/arc_events.hpp"
#include "conclave/population/census_events.hpp"
#include "conclave/protocols/population/fratricide.hpp"
#include "conclave/protocols/population/pll.hpp"
#include "conclave/protocols/population/pll_sym.hpp"
#include "conclave/protocols/population/ppl.hpp"
#include "conclave/protocols/population/prl.hpp"

#include "tests/support/run_trial.hpp"
#include "tests/unit/uniformity.hpp"

namespace conclave::tests {
namespace {

using population::AgentMemory;
using protocols::Fratricide;
using protocols::Pll;
using protocols::PllSym;
using protocols::Ppl;
using protocols::Prl;

constexpr AgentCount n = 40;
constexpr std::uint64_t limit = n * 100'000;
constexpr std::uint64_t seeds = 5;

// P_PL with toy constants, so that it converges soon; the others with those of their papers.
template <class P>
P protocol_of(AgentCount agents) {
  typename P::Parameters parameters;
  if constexpr (requires { parameters.t_emit; }) {
    parameters.t_max = 200;
    parameters.t_virus = 20;
    parameters.t_emit = 60;
  }
  if constexpr (requires { parameters.resolve(agents); }) parameters.resolve(agents);
  return P(parameters, agents);
}

template <class P>
struct OnAgents {
  using Protocol = P;
  using Engine = population::Agents<P>;
  static Engine make(const P& protocol, AgentCount agents, const StreamName& name,
                     AgentMemory& memory) {
    return Engine(protocol, agents, 0, name, memory);
  }
};

template <class P>
struct OnCensusEvents {
  using Protocol = P;
  using Engine = population::CensusEvents<P>;
  static Engine make(const P& protocol, AgentCount agents, const StreamName& name, AgentMemory&) {
    return Engine(protocol, agents, 0, name);
  }
};

struct OnArcEvents {
  using Protocol = Prl;
  using Engine = population::ArcEvents<Prl, DirectedRing>;
  static Engine make(const Prl& protocol, AgentCount agents, const StreamName& name, AgentMemory&) {
    return Engine(protocol, DirectedRing(agents), 0, name);
  }
};

// An engine with all it needs, ready to start.
template <class Case>
struct Ready {
  explicit Ready(std::uint64_t seed, AgentCount agents = n)
      : protocol(protocol_of<typename Case::Protocol>(agents)),
        engine(Case::make(protocol, agents, {.seed = seed}, memory)) {}

  TrialResult run(const TrialPlan& plan) {
    return population::run_trial(engine, plan, [](Interactions) { return true; });
  }

  AgentMemory memory;
  typename Case::Protocol protocol;
  typename Case::Engine engine;
};

template <class Case>
TrialResult run(std::uint64_t seed, const TrialPlan& plan) {
  return Ready<Case>(seed).run(plan);
}

template <class Engine>
constexpr bool shows_agents = requires(const Engine& engine) {
  engine.state(AgentCount{0});
};

template <class Case>
auto states_of(const Ready<Case>& ready) requires shows_agents<typename Case::Engine> {
  std::vector<typename Case::Protocol::State> states;
  for (AgentCount agent = 0; agent < ready.engine.size(); ++agent) {
    states.push_back(ready.engine.state(agent));
  }
  return states;
}

// The tally of the configuration as it stands, made from nothing.
template <class Case>
void expect_recount_agrees(const Ready<Case>& ready) requires shows_agents<typename Case::Engine> {
  using P = typename Case::Protocol;
  using Tally = typename TallyFor<P>::type;
  const auto count = [&](Tally tally) {
    for (const auto& state : states_of(ready)) tally.add(state);
    EXPECT_EQ(ready.engine.leaders(), tally.leaders());
    EXPECT_EQ(ready.engine.converged(), tally.converged());
  };
  if constexpr (PositionalTallyOf<Tally, P>) {
    count(Tally(ready.protocol, ready.engine.size()));
  } else {
    count(Tally(ready.protocol));
  }
}

Fault fault(FaultKind kind, double amount, double time = 0, bool after_convergence = false) {
  return {.text = "f",
          .kind = kind,
          .amount = amount,
          .parallel_time = time,
          .after_convergence = after_convergence};
}

bool same(const std::vector<Observation>& a, const std::vector<Observation>& b) {
  return std::ranges::equal(a, b, [](const Observation& x, const Observation& y) {
    return x.name == y.name && x.value == y.value;
  });
}

void expect_same_trial(const TrialResult& a, const TrialResult& b) {
  EXPECT_EQ(a.ending, b.ending);
  EXPECT_EQ(a.interactions, b.interactions);
  EXPECT_EQ(a.leaders, b.leaders);
  EXPECT_EQ(a.effective, b.effective);
  EXPECT_TRUE(same(a.observations, b.observations));
  ASSERT_EQ(a.faults.size(), b.faults.size());
  for (std::size_t i = 0; i < a.faults.size(); ++i) {
    EXPECT_EQ(a.faults[i].at, b.faults[i].at);
    EXPECT_EQ(a.faults[i].leaders, b.faults[i].leaders);
    EXPECT_EQ(a.faults[i].recovered, b.faults[i].recovered);
    EXPECT_EQ(a.faults[i].recovery, b.faults[i].recovery);
  }
}

template <class Case>
class Run : public testing::Test {};
using Cases = testing::Types<OnAgents<Fratricide>, OnAgents<Pll>, OnAgents<PllSym>, OnAgents<Ppl>,
                             OnAgents<Prl>, OnCensusEvents<Fratricide>, OnCensusEvents<Pll>,
                             OnCensusEvents<PllSym>, OnCensusEvents<Ppl>, OnArcEvents>;
TYPED_TEST_SUITE(Run, Cases);

TYPED_TEST(Run, InPiecesEndsWhereTheWholeEnds) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Ready<TypeParam> whole(seed);
    Ready<TypeParam> pieces(seed);
    whole.engine.advance(limit);
    Stream choice({.seed = seed});
    Interactions sum;
    while (!pieces.engine.has_stopped() && pieces.engine.now() < limit) {
      const Interactions budget =
          std::min<Interactions>(choice.below(200), Interactions(limit) - pieces.engine.now());
      const Interactions done = pieces.engine.advance(budget);
      EXPECT_TRUE(done == budget || pieces.engine.has_stopped());
      sum += done;
      ASSERT_EQ(pieces.engine.now(), sum);
    }
    EXPECT_EQ(pieces.engine.now(), whole.engine.now());
    EXPECT_EQ(pieces.engine.leaders(), whole.engine.leaders());
    EXPECT_EQ(pieces.engine.converged(), whole.engine.converged());
    EXPECT_TRUE(same(pieces.engine.observations(), whole.engine.observations()));
    EXPECT_EQ(pieces.engine.advance(10u), 0u);
    if constexpr (shows_agents<typename TypeParam::Engine>) {
      EXPECT_EQ(states_of(pieces), states_of(whole));
      expect_recount_agrees(whole);
    }
  }
}

// Kill, make, zero, corrupt, one after the other, while nothing is watched for.
TYPED_TEST(Run, FaultsHitAsManyCandidatesAsAsked) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Ready<TypeParam> ready(seed);
    auto& engine = ready.engine;
    engine.watch(Watch::nothing);
    for (const std::uint64_t wait : {0u, 1u, 50u, 3000u}) {
      EXPECT_EQ(engine.advance(wait), Interactions(wait));
      const AgentCount before = engine.leaders();
      EXPECT_EQ(engine.strike(fault(FaultKind::kill_leaders, 0)), before);
      EXPECT_EQ(engine.leaders(), 0u);
      EXPECT_FALSE(engine.converged());
      EXPECT_EQ(engine.strike(fault(FaultKind::make_leaders, 7)), 7u);
      EXPECT_EQ(engine.leaders(), 7u);
      EXPECT_EQ(engine.strike(fault(FaultKind::make_leaders, 1000)), n - 7);
      EXPECT_EQ(engine.leaders(), n);
      EXPECT_EQ(engine.strike(fault(FaultKind::make_leaders, 3)), 0u);
      EXPECT_EQ(engine.strike(fault(FaultKind::zero, 11)), 11u);
      EXPECT_EQ(engine.leaders(), n - 11);  // the zero state of all these protocols follows
      EXPECT_EQ(engine.strike(fault(FaultKind::corrupt, 1000)), n);
      EXPECT_EQ(engine.strike(fault(FaultKind::corrupt, 0)), 0u);
      Fault half = fault(FaultKind::corrupt, 50);
      half.is_percentage = true;
      EXPECT_EQ(engine.strike(half), n / 2);
      if constexpr (shows_agents<typename TypeParam::Engine>) expect_recount_agrees(ready);
    }
  }
}

// The same faults by hand give the same times: those in the outcome are exact, and `recovery` after
// `at` the protocol is converged for the first time since.
TYPED_TEST(Run, FaultsAndRecoveriesAreWhereAReplayByHandHasThem) {
  const TrialPlan plan{
      .limit = limit,
      .faults = {fault(FaultKind::make_leaders, 6, 2.5, true), fault(FaultKind::zero, 5, 1.5),
                 fault(FaultKind::make_leaders, 3, 0.25)}};
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const TrialResult result = run<TypeParam>(seed, plan);
    ASSERT_GE(result.faults.size(), 2u);
    EXPECT_EQ(result.faults[0].at, 10u);
    EXPECT_EQ(result.faults[1].at, 60u);
    if (result.faults.size() == 3) {
      EXPECT_EQ(result.faults[2].at, result.interactions + 100u);
    }
    Ready<TypeParam> replay(seed);
    for (std::size_t i = 0; i < result.faults.size(); ++i) {
      const FaultOutcome& outcome = result.faults[i];
      replay.engine.watch(Watch::nothing);
      replay.engine.advance(outcome.at - replay.engine.now());
      EXPECT_EQ(replay.engine.strike(plan.faults[2 - i]), outcome.agents);
      EXPECT_EQ(replay.engine.leaders(), outcome.leaders);
      replay.engine.watch(Watch::convergence);
      const Interactions end = i + 1 < result.faults.size() ? result.faults[i + 1].at : limit;
      replay.engine.advance(end - replay.engine.now());
      EXPECT_EQ(replay.engine.converged(), outcome.recovered);
      if (outcome.recovered) {
        EXPECT_EQ(replay.engine.now(), outcome.at + outcome.recovery);
      }
    }
  }
}

TYPED_TEST(Run, OnlyTheLastOfTwoQuickFaultsCanRecover) {
  const TrialPlan plan{.limit = limit,
                       .faults = {fault(FaultKind::make_leaders, 9, 0, true),
                                  fault(FaultKind::make_leaders, 9, 0.05, true)}};
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const TrialResult result = run<TypeParam>(seed, plan);
    if (result.ending != Ending::converged) continue;  // P_PL may take longer
    ASSERT_EQ(result.faults.size(), 2u);
    EXPECT_EQ(result.faults[0].at, result.interactions);
    EXPECT_EQ(result.faults[1].at, result.interactions + 2u);
    EXPECT_EQ(result.faults[0].leaders, 10u);
    EXPECT_FALSE(result.faults[0].recovered);
    EXPECT_EQ(result.faults[0].recovery, 0u);
    EXPECT_EQ(result.leaders, 1u);
  }
}

TYPED_TEST(Run, NoFaultStrikesAfterTheLimit) {
  for (const bool after_convergence : {false, true}) {
    const TrialPlan plan{.limit = 20 * n,
                         .faults = {fault(FaultKind::corrupt, 5, 20.1, after_convergence)}};
    const TrialResult result = run<TypeParam>(1, plan);
    EXPECT_TRUE(result.faults.empty());
    expect_same_trial(result, run<TypeParam>(1, {.limit = 20 * n}));
  }
}

TYPED_TEST(Run, FaultsDoNotChangeWhatCameBefore) {
  const TrialPlan plan{.limit = limit, .faults = {fault(FaultKind::corrupt, 5, 3, true)}};
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const TrialResult with = run<TypeParam>(seed, plan);
    const TrialResult without = run<TypeParam>(seed, {.limit = limit});
    EXPECT_EQ(with.ending, without.ending);
    EXPECT_EQ(with.interactions, without.interactions);
    EXPECT_TRUE(same(with.observations, without.observations));
  }
}

TYPED_TEST(Run, TracesShowTheTrialAndDoNotChangeIt) {
  TrialPlan plan{.limit = limit / 10, .faults = {fault(FaultKind::make_leaders, 4, 2, true)}};
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    plan.grid.reset();
    const TrialResult plain = run<TypeParam>(seed, plan);
    EXPECT_TRUE(plain.trace.empty());
    for (const TraceGrid& grid : {TraceGrid{}, TraceGrid{true, 1.5}, TraceGrid{false, 0.5}}) {
      plan.grid = grid;
      const TrialResult traced = run<TypeParam>(seed, plan);
      expect_same_trial(plain, traced);
      const auto& trace = traced.trace;
      ASSERT_FALSE(trace.empty());
      EXPECT_EQ(trace.front().interactions, 0u);
      EXPECT_TRUE(std::ranges::is_sorted(trace, {}, &TracePoint::interactions));
      if (traced.ending == Ending::converged) {
        const auto hit = std::ranges::find(trace, traced.interactions, &TracePoint::interactions);
        ASSERT_NE(hit, trace.end());
      }
      const Interactions next = grid.after(0u, n);
      if (traced.interactions >= next) {
        EXPECT_NE(std::ranges::find(trace, next, &TracePoint::interactions), trace.end());
      }
    }
  }
}

TYPED_TEST(Run, LinearTracesLookAtEveryStep) {
  const TrialResult result =
      run<TypeParam>(1, {.limit = limit / 10, .grid = TraceGrid{false, 0.5}});
  for (Interactions time; time <= result.interactions; time += n / 2) {
    EXPECT_NE(std::ranges::find(result.trace, time, &TracePoint::interactions), result.trace.end())
        << to_string(time);
  }
}

TYPED_TEST(Run, CanBeInterrupted) {
  Ready<TypeParam> ready(1);
  const TrialResult result =
      population::run_trial(ready.engine, TrialPlan{.grid = TraceGrid{false, 0.1}},
                            [](Interactions now) { return now < 30u; });
  EXPECT_EQ(result.ending, Ending::interrupted);
  EXPECT_EQ(result.interactions, 32u);
}

TEST(CensusEvents, PausesSoonerWhereThereAreManyStates) {
  population::CensusEvents<Ppl> engine(protocol_of<Ppl>(n), n, Ppl::random, {.seed = 1});
  ASSERT_GE(engine.census().size(), 32u);
  engine.advance(limit, 30);
  EXPECT_GT(engine.effective_interactions(), 0u);
  EXPECT_LE(engine.effective_interactions(), 10u);
}

// Fratricide makes no new leader.
template <class Case>
class HopelessRun : public testing::Test {};
using HopelessCases = testing::Types<OnAgents<Fratricide>, OnCensusEvents<Fratricide>,
                                     OnAgents<Pll>, OnCensusEvents<Pll>>;
TYPED_TEST_SUITE(HopelessRun, HopelessCases);

TYPED_TEST(HopelessRun, NeverRecovers) {
  const TrialResult result =
      run<TypeParam>(1, {.faults = {fault(FaultKind::kill_leaders, 0, 1, true)}});
  EXPECT_EQ(result.ending, Ending::converged);
  ASSERT_EQ(result.faults.size(), 1u);
  EXPECT_EQ(result.faults[0].agents, 1u);
  EXPECT_EQ(result.faults[0].leaders, 0u);
  EXPECT_FALSE(result.faults[0].recovered);
}

TYPED_TEST(HopelessRun, EndsAtOnce) {
  const TrialResult result =
      run<TypeParam>(1, {.faults = {fault(FaultKind::kill_leaders, 0, 0.5)}});
  EXPECT_EQ(result.ending, Ending::hopeless);
  EXPECT_EQ(result.interactions, 20u);
  EXPECT_EQ(result.leaders, 0u);
}

TYPED_TEST(HopelessRun, IsSavedByALaterFault) {
  const TrialResult result = run<TypeParam>(1, {.faults = {fault(FaultKind::kill_leaders, 0, 0.5),
                                                           fault(FaultKind::make_leaders, 1, 9)}});
  EXPECT_EQ(result.ending, Ending::converged);
  EXPECT_EQ(result.interactions, 9 * n);
  ASSERT_EQ(result.faults.size(), 2u);
  EXPECT_FALSE(result.faults[0].recovered);
  EXPECT_TRUE(result.faults[1].recovered);
  EXPECT_EQ(result.faults[1].recovery, 0u);
}

TEST(FaultAmount, IsRoundedAndNeverMoreThanThereAre) {
  Fault some = fault(FaultKind::corrupt, 7);
  EXPECT_EQ(some.agents_hit(10, 10), 7u);
  EXPECT_EQ(some.agents_hit(10, 5), 5u);
  for (const double amount : {1e3, 1e19, 1e30, 1e300}) {
    some.amount = amount;
    EXPECT_EQ(some.agents_hit(10, 10), 10u) << amount;
  }
  some.is_percentage = true;
  some.amount = 25;
  EXPECT_EQ(some.agents_hit(10, 10), 3u);  // half an agent is one
  some.amount = 100;
  EXPECT_EQ(some.agents_hit(999'999'999, 999'999'999), 999'999'999u);
  EXPECT_EQ(fault(FaultKind::kill_leaders, 0).agents_hit(10, 4), 4u);
}

// Which sets of agents a fault hits. With N of prl this large, an arbitrary state is a new one.
template <class Case>
class FaultTargetLaws : public testing::Test {};
using TargetCases = testing::Types<OnAgents<Prl>, OnArcEvents>;
TYPED_TEST_SUITE(FaultTargetLaws, TargetCases);

TYPED_TEST(FaultTargetLaws, AreUniform) {
  constexpr AgentCount few = 6;
  const Prl protocol(Prl::Parameters{.upper_bound = std::uint64_t{1} << 40}, few);
  AgentMemory memory;
  for (const auto& [hit, sets] : {std::pair{1, 6u}, std::pair{3, 20u}, std::pair{5, 6u}}) {
    std::map<std::vector<AgentCount>, double> counts;
    for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
      auto engine = TypeParam::make(protocol, few, {.seed = seed}, memory);
      std::vector<Prl::State> before;
      for (AgentCount agent = 0; agent < few; ++agent) before.push_back(engine.state(agent));
      engine.strike(fault(FaultKind::corrupt, hit));
      std::vector<AgentCount> struck;
      for (AgentCount agent = 0; agent < few; ++agent) {
        if (!(engine.state(agent) == before[agent])) struck.push_back(agent);
      }
      ASSERT_EQ(struck.size(), static_cast<std::size_t>(hit)) << "seed " << seed;
      ++counts[struck];
    }
    EXPECT_EQ(counts.size(), sets);
    std::vector<double> observed;
    for (const auto& [set, count] : counts) observed.push_back(count);
    EXPECT_GE(uniform_p_value(observed), reject) << hit << " of 6";
  }
}

// On a census: of 6 leaders among 10 agents, 3 struck agents are hypergeometric many.
TEST(CensusFaultTargetLaws, AreUniform) {
  std::vector<double> lost(4, 0.0);
  for (std::uint64_t seed = 0; seed < 50'000; ++seed) {
    population::CensusEvents<Fratricide> engine(Fratricide({}, 10), 10, 0, {.seed = seed});
    engine.strike(fault(FaultKind::zero, 4));
    ASSERT_EQ(engine.leaders(), 6u);
    engine.strike(fault(FaultKind::zero, 3));
    ++lost[6 - engine.leaders()];
  }
  EXPECT_GE(p_value(lost, {4, 36, 60, 20}), reject);
}

}  // namespace
}  // namespace conclave::tests
