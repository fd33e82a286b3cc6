// The `events` engines: their times against exact laws by chi-square, and against the `agents`
// engine by Kolmogorov-Smirnov. The same tests must reject engines with one mistake.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/statistics.hpp"
#include "conclave/model/graph.hpp"
#include "conclave/population/agents.hpp"
#include "conclave/population/arc_events.hpp"
#include "conclave/population/census_events.hpp"
#include "conclave/protocols/population/fratricide.hpp"
#include "conclave/protocols/population/pll_sym.hpp"
#include "conclave/protocols/population/ppl.hpp"

#include "tests/mutants/broken_events.hpp"
#include "tests/support/hitting_law.hpp"
#include "tests/support/law_cases.hpp"
#include "tests/support/own_live_law.hpp"
#include "tests/support/pll_cases.hpp"
#include "tests/support/prl_definitions.hpp"
#include "tests/support/samplers.hpp"

namespace conclave::tests {
namespace {

using mutants::Flaw;
using mutants::PlainArcEvents;
using mutants::PlainCensusEvents;
using population::AgentMemory;
using population::Agents;
using population::CensusEvents;
using protocols::Fratricide;
using protocols::PllSym;
using protocols::Ppl;
using RingEvents = population::ArcEvents<Prl, DirectedRing>;

template <PopulationProtocol P>
class CensusEventsSampler {
 public:
  explicit CensusEventsSampler(const Setting<P>& setting) : setting_(setting) {}

  std::uint64_t operator()(std::uint64_t trial) const {
    CensusEvents<P> engine(setting_.protocol, setting_.n, 0,
                           {.seed = setting_.seed, .trial = trial});
    engine.advance(setting_.limit);
    return engine.converged() ? *engine.now().as_uint64() : setting_.limit + 1;
  }

 private:
  Setting<P> setting_;
};

template <Flaw flaw>
constexpr auto plain_events =
    []<class P>(const Setting<P>& s) { return PlainCensusEvents<P, flaw>(s); };

TEST(CensusEventsLaw, IsExact) {
  expect_for_all(Verdict::fits,
                 []<class P>(const Setting<P>& s) { return CensusEventsSampler<P>(s); });
}

// The simulation that the mutants are made from.
TEST(CensusEventsLaw, OfThePlainVersionIsExact) {
  expect_for_all(Verdict::fits, plain_events<Flaw::none>);
}

TEST(CensusEventsLaw, RejectsForgottenNullInteractions) {
  expect_for_all(Verdict::is_rejected, plain_events<Flaw::forgets_null_interactions>);
}

TEST(CensusEventsLaw, RejectsAWaitThatIsOffByOne) {
  expect_for_all(Verdict::is_rejected, plain_events<Flaw::waits_one_less>);
}

TEST(CensusEventsLaw, RejectsSamplingWithReplacement) {
  expect_for_all(Verdict::is_rejected, plain_events<Flaw::samples_with_replacement>);
}

// One engine's times: ascending, infinite for trials that can never end. The engines of one test
// have different seeds, for they share the streams of starts.
template <class MakeEngine>
std::vector<double> times_of(std::uint64_t trials, std::uint64_t seed, MakeEngine make_engine) {
  std::vector<double> times;
  for (std::uint64_t trial = 0; trial < trials; ++trial) {
    auto engine = make_engine(StreamName{.seed = seed, .trial = trial});
    engine.advance(Interactions::max());
    times.push_back(engine.converged() ? engine.now().as_double()
                                       : std::numeric_limits<double>::infinity());
  }
  std::ranges::sort(times);
  return times;
}

template <PopulationProtocol P>
struct Comparison {
  P protocol;
  AgentCount n;
  std::size_t start;
  std::uint64_t trials;

  std::string name() const {
    return std::string(P::info.name) + " n=" + std::to_string(n) + " start " +
           std::string(P::starts[start].name) + " seeds 1 and 2, trials 0 to " +
           std::to_string(trials - 1);
  }

  std::vector<double> times_of_agents() const {
    AgentMemory memory;
    return times_of(trials, 1, [&](const StreamName& stream) {
      return Agents<P>(protocol, n, start, stream, memory);
    });
  }
  std::vector<double> times_of_census() const {
    return times_of(trials, 2, [&](const StreamName& stream) {
      return CensusEvents<P>(protocol, n, start, stream);
    });
  }
};

template <PopulationProtocol P>
void expect_same_law(const Comparison<P>& compared, const std::vector<double>& times) {
  const TestResult result = kolmogorov_smirnov(times, compared.times_of_agents());
  EXPECT_GE(result.p_value, rejected_below) << compared.name() << ": D = " << result.statistic;
  testing::Test::RecordProperty(compared.name(), std::to_string(result.p_value));
}

template <PopulationProtocol P>
std::size_t start_of(std::string_view name) {
  const auto found = std::ranges::find(P::starts, name, &Start::name);
  return static_cast<std::size_t>(found - P::starts.begin());
}

TEST(CensusEventsAndAgents, HaveOneLawForFratricide) {
  const Comparison<Fratricide> compared{Fratricide({}, 200), 200, 0, 20'000};
  expect_same_law(compared, compared.times_of_census());
}

TEST(CensusEventsAndAgents, HaveOneLawForPll) {
  const Comparison<Pll> compared{pll_with({}, 100), 100, 0, 3000};
  expect_same_law(compared, compared.times_of_census());
}

TEST(CensusEventsAndAgents, HaveOneLawForPllSym) {
  const Comparison<PllSym> compared{PllSym({}, 60), 60, 0, 3000};
  expect_same_law(compared, compared.times_of_census());
}

Ppl::Parameters toy_parameters() {
  Ppl::Parameters parameters;
  parameters.t_max = 20;
  parameters.t_virus = 6;
  parameters.t_emit = 5;
  return parameters;
}

TEST(CensusEventsAndAgents, HaveOneLawForPplWithToyConstants) {
  const Ppl protocol(toy_parameters(), 30);
  for (const std::string_view start :
       {"random", "all-leaders", "no-leader", "all-zero", "virus-everywhere", "leader-timer0"}) {
    const Comparison<Ppl> compared{protocol, 30, start_of<Ppl>(start), 2000};
    expect_same_law(compared, compared.times_of_census());
  }
}

TEST(CensusEventsAndAgents, AreToldApartFromMutants) {
  const Comparison<Fratricide> compared{Fratricide({}, 200), 200, 0, 20'000};
  const Setting<Fratricide> setting{compared.protocol, 200, 3, 10'000'000};
  const std::vector<double> right = compared.times_of_agents();
  const auto p_value = [&](auto sampler) {
    return kolmogorov_smirnov(sorted_sample(sampler, compared.trials), right).p_value;
  };
  EXPECT_GE(p_value(plain_events<Flaw::none>(setting)), rejected_below);
  EXPECT_LT(p_value(plain_events<Flaw::forgets_null_interactions>(setting)), rejected_below);
  EXPECT_LT(p_value(plain_events<Flaw::samples_with_replacement>(setting)), rejected_below);
}

// prl from every start that takes another way to S_RL.
template <class Check>
void for_each_ring(AgentCount n, std::uint64_t trials, Check check) {
  for (const std::string_view start :
       {"random", "all-leaders", "no-leader-distL-zero", "all-live-bullets"}) {
    check(Comparison<Prl>{prl_with(n, n), n, start_of<Prl>(start), trials});
  }
}

std::vector<double> times_of_arcs(const Comparison<Prl>& compared) {
  return times_of(compared.trials, 2, [&](const StreamName& stream) {
    return RingEvents(compared.protocol, DirectedRing(compared.n), compared.start, stream);
  });
}

template <Flaw flaw>
std::vector<double> times_of_plain_arcs(const Comparison<Prl>& compared) {
  const PlainArcEvents<flaw> sampler(compared.protocol, compared.n, compared.start,
                                     100 * compared.n * compared.n);
  return sorted_sample(sampler, compared.trials);
}

TEST(ArcEventsAndAgents, HaveOneLawForPrl) {
  for (const AgentCount n : {20u, 50u}) {
    for_each_ring(n, 4000, [](const Comparison<Prl>& compared) {
      expect_same_law(compared, times_of_arcs(compared));
    });
  }
}

TEST(ArcEventsAndAgents, AreToldApartFromMutants) {
  for_each_ring(20, 1500, [](const Comparison<Prl>& compared) {
    expect_same_law(compared, times_of_plain_arcs<Flaw::none>(compared));
    const std::vector<double> right = compared.times_of_agents();
    const auto p_value = [&](const std::vector<double>& times) {
      return kolmogorov_smirnov(times, right).p_value;
    };
    EXPECT_LT(p_value(times_of_plain_arcs<Flaw::forgets_null_interactions>(compared)),
              rejected_below)
        << compared.name();
    EXPECT_LT(p_value(times_of_plain_arcs<Flaw::waits_one_less>(compared)), rejected_below)
        << compared.name();
    EXPECT_LT(p_value(times_of_plain_arcs<Flaw::forgets_an_arc>(compared)), rejected_below)
        << compared.name();
  });
}

Comparison<Prl> comparison_of(const OwnLiveLaw& law) {
  return {prl_with(law.n, law.bound), law.n, own_live(), law.trials};
}

TEST(ArcEventsLaw, FromOneLeaderWithItsOwnLiveBulletIsASumOfGeometrics) {
  for (const OwnLiveLaw& law : own_live_laws()) {
    const std::vector<double> times = times_of_arcs(comparison_of(law));
    EXPECT_TRUE(law.fits(times)) << law.name() << " p = " << law.fit(times).p_value;
    testing::Test::RecordProperty(law.name(), std::to_string(law.fit(times).p_value));
  }
}

// At n = 50 the plain version, which looks at every arc before every event, takes too long.
TEST(ArcEventsLaw, RejectsMutants) {
  for (const OwnLiveLaw& law : own_live_laws()) {
    if (law.n == 50) continue;
    const Comparison<Prl> compared = comparison_of(law);
    EXPECT_TRUE(law.fits(times_of_plain_arcs<Flaw::none>(compared))) << law.name();
    EXPECT_FALSE(law.fits(times_of_plain_arcs<Flaw::forgets_null_interactions>(compared)))
        << law.name();
    EXPECT_FALSE(law.fits(times_of_plain_arcs<Flaw::waits_one_less>(compared))) << law.name();
    EXPECT_FALSE(law.fits(times_of_plain_arcs<Flaw::forgets_an_arc>(compared))) << law.name();
  }
}

}  // namespace
}  // namespace conclave::tests
