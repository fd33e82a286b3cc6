// The `counts` engine: hitting times against exact laws by chi-square and against the `agents`
// engine by Kolmogorov-Smirnov, and what is observed on the way. The same tests must reject
// simulations in batches with one mistake each.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/statistics.hpp"
#include "conclave/population/adaptive.hpp"
#include "conclave/population/agents.hpp"
#include "conclave/population/counts.hpp"
#include "conclave/protocols/population/coalescence.hpp"
#include "conclave/protocols/population/fratricide.hpp"
#include "conclave/protocols/population/pll_sym.hpp"
#include "conclave/protocols/population/ppl.hpp"

#include "tests/mutants/broken_batches.hpp"
#include "tests/support/forced_costs.hpp"
#include "tests/support/hitting_law.hpp"
#include "tests/support/law_cases.hpp"
#include "tests/support/pll_cases.hpp"
#include "tests/support/small_protocols.hpp"
#include "tests/support/two_samples.hpp"

namespace conclave::tests {
namespace {

using mutants::BatchFlaw;
using mutants::PlainBatches;
using population::AgentMemory;
using population::Agents;
using population::Counts;
using population::CountsCosts;
using protocols::Coalescence;
using protocols::Fratricide;
using protocols::PllSym;
using protocols::Ppl;

// So many that plain batches with a flaw are told apart from right ones.
constexpr std::uint64_t exact_trials = 100'000;
constexpr double never = std::numeric_limits<double>::infinity();

template <PopulationProtocol P, class Costs>
class CountsSampler {
 public:
  explicit CountsSampler(const Setting<P>& setting) : setting_(setting) {}

  std::uint64_t operator()(std::uint64_t trial) const {
    Counts<P, Costs> engine(setting_.protocol, setting_.n, 0,
                            {.seed = setting_.seed, .trial = trial});
    engine.advance(setting_.limit);
    return engine.converged() ? *engine.now().as_uint64() : setting_.limit + 1;
  }

 private:
  Setting<P> setting_;
};

template <PopulationProtocol P>
class PlainSampler {
 public:
  PlainSampler(const Setting<P>& setting, BatchFlaw flaw) : setting_(setting), flaw_(flaw) {}

  std::uint64_t operator()(std::uint64_t trial) const {
    PlainBatches<P> simulation(setting_.protocol, setting_.n,
                               {.seed = setting_.seed, .trial = trial}, flaw_);
    const std::uint64_t time =
        simulation.run(setting_.limit, [&] { return simulation.leaders() == 1; });
    return simulation.leaders() == 1 ? time : setting_.limit + 1;
  }

 private:
  Setting<P> setting_;
  BatchFlaw flaw_;
};

// Every exact law of law_cases.hpp; make(setting) gives a sampler.
template <class MakeSampler>
void expect_exact(const std::string& name, Verdict verdict, MakeSampler make,
                  std::uint64_t trials = exact_trials) {
  const auto check = [&](const auto& cases) {
    for (const auto& law : cases) {
      const TestResult result = fit_of(sorted_sample(make(law.setting), trials), law.cdf);
      const bool fits = result.p_value >= rejected_below;
      EXPECT_EQ(fits, verdict == Verdict::fits) << name << ": " << law.name << ": chi-square "
                                                << result.statistic << ", p = " << result.p_value;
      testing::Test::RecordProperty(name + ": " + law.name, std::to_string(result.p_value));
    }
  };
  check(fratricide_cases());
  check(pll_cases());
}

TEST(CountsLaw, IsExactInEveryWayToSimulate) {
  for_all_costs([]<class Costs>(const std::string& name) {
    expect_exact(
        name, Verdict::fits,
        []<class P>(const Setting<P>& s) { return CountsSampler<P, Costs>(s); },
        std::is_same_v<Costs, CountsCosts> ? exact_trials : exact_trials / 4);
  });
}

void expect_of_plain_batches(Verdict verdict, BatchFlaw flaw) {
  expect_exact("plain batches", verdict,
               [flaw]<class P>(const Setting<P>& s) { return PlainSampler<P>(s, flaw); });
}

// The mutants below are made from this engine.
TEST(CountsLaw, OfPlainBatchesIsExact) { expect_of_plain_batches(Verdict::fits, BatchFlaw::none); }

// In fratricide no rule has a lower initiator and no state is new, and who meets whom hardly
// matters; for the other flaws see counts_census_law_test.cpp.
TEST(CountsLaw, RejectsPlainBatchesWithAFlaw) {
  for (const BatchFlaw flaw :
       {BatchFlaw::forgets_the_collision, BatchFlaw::reports_the_end_of_the_batch,
        BatchFlaw::draws_with_replacement, BatchFlaw::forgets_null_interactions}) {
    SCOPED_TRACE(static_cast<int>(flaw));
    expect_of_plain_batches(Verdict::is_rejected, flaw);
  }
}

// --- a stop in the middle of things ---

// The exact law of the time at which so many agents are in one state.
template <class P>
LawCase<Crossing<P>> crossing_case(std::string name, const Crossing<P>& protocol, AgentCount n) {
  const CensusChain<Crossing<P>> chain(protocol, n);
  MarkovChain::Target target(chain.size());
  for (std::size_t index = 0; index < chain.size(); ++index) {
    const auto states = chain.states(index);
    const auto counted = std::ranges::count(states, protocol.letter);
    target[index] = static_cast<AgentCount>(counted) == protocol.goal;
  }
  return {std::move(name),
          {.protocol = protocol, .n = n, .seed = 1, .limit = law_limit},
          chain.chain().distribution(target, law_limit)};
}

template <class Costs, class P>
double p_value_of_crossing(const LawCase<Crossing<P>>& law, TallyFlaw flaw) {
  Setting<Crossing<P>> setting = law.setting;
  setting.protocol.flaw = flaw;
  constexpr std::uint64_t trials = 10'000;
  const CountsSampler<Crossing<P>, Costs> sampler(setting);
  return fit_of(sorted_sample(sampler, trials), law.cdf).p_value;
}

// A count that rises and would rise further, and one that wanders about its goal.
auto majority_crossings() {
  return std::vector{
      crossing_case("majority to 12 of 40", Crossing(Majority(40, 20), {2}, 12), 40),
      crossing_case("majority to 17 of 40", Crossing(Majority(40, 20), {2}, 17), 40)};
}
auto table_crossings() {
  return std::vector{
      crossing_case("table to 7 of 14", Crossing(RandomTable({.states = 3}, 14, 2), {2}, 7), 14),
      crossing_case("lotteries to 5 of 14",
                    Crossing(RandomTable({.states = 4, .outcomes = 3}, 14, 5), {0}, 5), 14)};
}

TEST(CountsCrossings, AreExactInEveryWayToSimulate) {
  const auto check = [](const auto& cases) {
    for (const auto& law : cases) {
      EXPECT_GT(law.cdf.back(), 0.5) << law.name << " hardly ever happens";
      for_all_costs([&law]<class Costs>(const std::string& name) {
        EXPECT_GE(p_value_of_crossing<Costs>(law, TallyFlaw::none), rejected_below)
            << name << ": " << law.name;
      });
    }
  };
  check(majority_crossings());
  check(table_crossings());
}

// An interaction too late shows where the time is nearly the same in every trial.
TEST(CountsCrossings, OfWrongTalliesAreRejected) {
  const auto law = majority_crossings().front();
  EXPECT_LT(p_value_of_crossing<DrawnOneByOne>(law, TallyFlaw::is_hasty), rejected_below);
  EXPECT_LT(p_value_of_crossing<EndlessBatches>(law, TallyFlaw::is_blind), rejected_below);
}

// --- mean and variance at n = 20 ---

// A sum of independent geometric waits: its first four cumulants, those of each wait added up.
struct SumOfWaits {
  double mean = 0;
  double variance = 0;
  double fourth = 0;

  void add(double p) {
    const double q = 1 - p;
    mean += 1 / p;
    variance += q / (p * p);
    fourth += q * (6 * q + p * p) / (p * p * p * p);
  }
};

SumOfWaits fratricide_waits(double n) {
  SumOfWaits waits;
  for (double k = 2; k <= n; ++k) waits.add(k * (k - 1) / (n * (n - 1)));
  return waits;
}

SumOfWaits epidemic_waits(double n) {
  SumOfWaits waits;
  for (double k = 1; k < n; ++k) waits.add(k * (n - k) / (n * (n - 1)));
  return waits;
}

// Beyond it, less than one of a million samples has a mean or a variance.
constexpr double far = 4.9;

// How many standard errors a sample's mean and variance are away from the exact ones.
struct Distance {
  double mean;
  double variance;
  bool is_far() const { return std::abs(mean) > far || std::abs(variance) > far; }
};

Distance distance(const std::vector<double>& times, const SumOfWaits& exact) {
  const Summary summary = summarize(times);
  const auto trials = static_cast<double>(times.size());
  const double spread = std::sqrt((exact.fourth + 2 * exact.variance * exact.variance) / trials);
  return {(summary.mean - exact.mean) / std::sqrt(exact.variance / trials),
          (summary.variance - exact.variance) / spread};
}

template <class MakeEngine>
std::vector<double> times_of(std::uint64_t trials, std::uint64_t seed, std::uint64_t limit,
                             MakeEngine make_engine) {
  std::vector<double> times;
  for (std::uint64_t trial = 0; trial < trials; ++trial) {
    auto engine = make_engine(StreamName{.seed = seed, .trial = trial});
    engine.advance(limit);
    times.push_back(engine.converged() ? engine.now().as_double() : never);
  }
  std::ranges::sort(times);
  return times;
}

constexpr std::uint64_t moment_trials = 30'000;

TEST(CountsMoments, AreExactAtTwentyAgents) {
  for_all_costs([]<class Costs>(const std::string& name) {
    const auto fratricide = times_of(moment_trials, 3, 1'000'000, [](const StreamName& stream) {
      return Counts<Fratricide, Costs>(Fratricide({}, 20), 20, 0, stream);
    });
    const auto epidemic = times_of(moment_trials, 4, 1'000'000, [](const StreamName& stream) {
      return Counts<Epidemic, Costs>(Epidemic(20, 1), 20, 0, stream);
    });
    for (const Distance& d :
         {distance(fratricide, fratricide_waits(20)), distance(epidemic, epidemic_waits(20))}) {
      EXPECT_FALSE(d.is_far()) << name << ": mean " << d.mean << ", variance " << d.variance;
    }
  });
}

// A clock of exponential instead of geometric waits keeps the mean of an epidemic's time; its
// variance is 11 % too high at n = 20.
TEST(CountsMoments, RejectAContinuousClock) {
  Stream stream({.seed = 8});
  std::vector<double> times;
  for (std::uint64_t trial = 0; trial < moment_trials; ++trial) {
    double time = 0;
    for (double k = 1; k < 20; ++k) {
      const double uniform = (static_cast<double>(stream.word() >> 11) + 0.5) * 0x1p-53;
      time -= std::log(uniform) * 380 / (k * (20 - k));
    }
    times.push_back(time);
  }
  const Distance d = distance(times, epidemic_waits(20));
  EXPECT_LT(std::abs(d.mean), far);
  EXPECT_GT(d.variance, far);
}

// --- against the agents engine ---

Ppl toy_ppl(AgentCount n) {
  Ppl::Parameters parameters;
  parameters.t_max = 20;
  parameters.t_virus = 6;
  parameters.t_emit = 5;
  return {parameters, n};
}

template <PopulationProtocol P>
struct Comparison {
  P protocol;
  AgentCount n;
  std::uint64_t trials;
  std::size_t start = 0;
  std::uint64_t limit = std::numeric_limits<std::uint64_t>::max();

  std::vector<double> times_of_agents() const {
    AgentMemory memory;
    return times_of(trials, 1, limit, [&](const StreamName& stream) {
      return Agents<P>(protocol, n, start, stream, memory);
    });
  }
  template <class Costs = CountsCosts>
  std::vector<double> times_of_counts() const {
    return times_of(trials, 2, limit, [&](const StreamName& stream) {
      return Counts<P, Costs>(protocol, n, start, stream);
    });
  }
};

template <class... Costs, PopulationProtocol P>
void expect_same_law(const std::string& protocol, const Comparison<P>& compared) {
  const std::string name = protocol + " n=" + std::to_string(compared.n) + " seeds 1 and 2, " +
                           std::to_string(compared.trials) + " trials";
  const std::vector<double> right = compared.times_of_agents();
  const auto check = [&](const std::vector<double>& times) {
    const TestResult result = kolmogorov_smirnov(times, right);
    EXPECT_GE(result.p_value, rejected_below) << name << ": D = " << result.statistic;
    testing::Test::RecordProperty(name, std::to_string(result.p_value));
  };
  check(compared.times_of_counts());
  (check(compared.template times_of_counts<Costs>()), ...);
}

TEST(CountsAndAgents, HaveOneLawForFratricide) {
  expect_same_law("fratricide", Comparison<Fratricide>{Fratricide({}, 100), 100, 20'000});
  expect_same_law<EndlessBatches, DrawnTogether>(
      "fratricide", Comparison<Fratricide>{Fratricide({}, 30), 30, 6000});
  expect_same_law("fratricide", Comparison<Fratricide>{Fratricide({}, 1000), 1000, 200});
}

TEST(CountsAndAgents, HaveOneLawForCoalescence) {
  expect_same_law("coalescence", Comparison<Coalescence>{Coalescence({}, 100), 100, 10'000});
}

TEST(CountsAndAgents, HaveOneLawForADuelOfChance) {
  expect_same_law<DrawnTogether, AlwaysJumps>("duel", Comparison<Duel>{Duel(30), 30, 6000});
}

TEST(CountsAndAgents, HaveOneLawForEpidemics) {
  expect_same_law("epidemic", Comparison<Epidemic>{Epidemic(100, 1), 100, 20'000});
  expect_same_law<EndlessBatches, DrawnTogether>("epidemic",
                                                 Comparison<Epidemic>{Epidemic(60, 1), 60, 6000});
  expect_same_law("epidemic", Comparison<Epidemic>{Epidemic(1000, 1), 1000, 4000});
  expect_same_law("epidemic", Comparison<Epidemic>{Epidemic(10'000, 1), 10'000, 800});
}

TEST(CountsAndAgents, HaveOneLawForApproximateMajority) {
  expect_same_law("majority", Comparison<Majority>{Majority(100, 51), 100, 10'000});
  expect_same_law<EndlessBatches, DrawnTogether>("majority",
                                                 Comparison<Majority>{Majority(60, 31), 60, 4000});
  expect_same_law("majority", Comparison<Majority>{Majority(1000, 510), 1000, 2000});
  expect_same_law("majority", Comparison<Majority>{Majority(10'000, 5010), 10'000, 600});
}

TEST(CountsAndAgents, HaveOneLawForAStopInTheMiddle) {
  const Crossing fourth(Majority(10'000, 5010), {2}, 2500);
  expect_same_law("majority to 2500 undecided",
                  Comparison<Crossing<Majority>>{fourth, 10'000, 1000, 0, 1'000'000});
}

// Among more agents, LeadersOfPll below has more power.
TEST(CountsAndAgents, HaveOneLawForPll) {
  expect_same_law("pll", Comparison<Pll>{pll_with({}, 100), 100, 1500});
  expect_same_law<EndlessBatches, DrawnTogether>(
      "pll c_max=6 k=1", Comparison<Pll>{pll_with({.c_max = 6, .k = 1}, 60), 60, 3000});
}

TEST(CountsAndAgents, HaveOneLawForPllSym) {
  expect_same_law<DrawnTogether>("pll-sym", Comparison<PllSym>{PllSym({}, 60), 60, 400});
}

TEST(CountsAndAgents, HaveOneLawForPplWithToyConstants) {
  for (std::size_t start = 0; start < Ppl::starts.size(); ++start) {
    SCOPED_TRACE(Ppl::starts[start].name);
    expect_same_law<DrawnTogether>("ppl", Comparison<Ppl>{toy_ppl(30), 30, 400, start});
  }
}

// --- the engine behind auto, which goes over from one to the other ---

template <class P>
std::vector<double> times_of_adaptive(const P& protocol, AgentCount n, std::uint64_t trials) {
  AgentMemory memory;
  std::vector<double> times;
  for (std::uint64_t trial = 0; trial < trials; ++trial) {
    population::Adaptive<P> engine(protocol, n, 0, {.seed = 5, .trial = trial}, memory);
    engine.advance(Interactions::max());
    times.push_back(engine.now().as_double());
  }
  std::ranges::sort(times);
  return times;
}

TEST(AdaptiveAndAgents, HaveOneLaw) {
  const Comparison<Pll> pll{pll_with({}, 300), 300, 1500};
  const auto pll_times = times_of_adaptive(pll.protocol, 300, 1500);
  EXPECT_GE(kolmogorov_smirnov(pll_times, pll.times_of_agents()).p_value, rejected_below);
  const Comparison<Fratricide> fratricide{Fratricide({}, 300), 300, 5000};
  const auto fratricide_times = times_of_adaptive(fratricide.protocol, 300, 5000);
  EXPECT_GE(kolmogorov_smirnov(fratricide_times, fratricide.times_of_agents()).p_value,
            rejected_below);
}

// --- faults, and how long a leader stays ---

// A sample of what measure(engine) gives, for both engines; they must have one law.
template <class P, class Measure>
void expect_same_measure(const P& protocol, AgentCount n, std::uint64_t trials, Measure measure) {
  AgentMemory memory;
  std::vector<double> of_agents, of_counts;
  for (std::uint64_t trial = 0; trial < trials; ++trial) {
    Agents<P> agents(protocol, n, 0, {.seed = 1, .trial = trial}, memory);
    of_agents.push_back(measure(agents));
    Counts<P> counts(protocol, n, 0, {.seed = 2, .trial = trial});
    of_counts.push_back(measure(counts));
  }
  std::ranges::sort(of_agents);
  std::ranges::sort(of_counts);
  const TestResult result = kolmogorov_smirnov(of_counts, of_agents);
  EXPECT_GE(result.p_value, rejected_below) << "D = " << result.statistic;
}

TEST(CountsAndAgents, HaveOneLawOfRecoveries) {
  for (const Fault& fault :
       {Fault{.text = {}, .kind = FaultKind::corrupt, .amount = 40, .is_percentage = true},
        Fault{.text = {}, .kind = FaultKind::make_leaders, .amount = 12}}) {
    expect_same_measure(Fratricide({}, 60), 60, 4000, [&](auto& engine) {
      engine.watch(Watch::nothing);
      engine.advance(std::uint64_t{3000});
      engine.strike(fault);
      engine.watch(Watch::convergence);
      engine.advance(std::uint64_t{1'000'000});
      return engine.converged() ? engine.now().as_double() : never;
    });
  }
}

TEST(CountsAndAgents, HaveOneLawOfHoldingTimes) {
  expect_same_measure(toy_ppl(12), 12, 1500, [](auto& engine) {
    engine.advance(std::uint64_t{1'000'000});
    const Interactions converged = engine.now();
    engine.hold();
    engine.advance(std::uint64_t{1'000'000});
    return (engine.now() - converged).as_double();
  });
}

TEST(CountsAndAgents, AreToldApartFromMutants) {
  const Comparison<Fratricide> compared{Fratricide({}, 100), 100, 4000};
  const std::vector<double> right = compared.times_of_agents();
  const auto p_value = [&](BatchFlaw flaw) {
    const PlainSampler<Fratricide> sampler({compared.protocol, 100, 3, 10'000'000}, flaw);
    return kolmogorov_smirnov(sorted_sample(sampler, compared.trials), right).p_value;
  };
  EXPECT_GE(p_value(BatchFlaw::none), rejected_below);
  EXPECT_LT(p_value(BatchFlaw::forgets_null_interactions), rejected_below);
}

// --- leaders that are left in the middle ---

// The time of pll's convergence is spread so widely, and takes so long among many agents, that a
// test can afford no sample of it that shows a mistake. The number of leaders that are left after
// three units of parallel time stays within some percent of its mean.
constexpr std::uint64_t middle_of_pll = 3;

template <class LeadersLeft>
std::vector<double> leaders_sample(std::uint64_t trials, std::uint64_t seed, LeadersLeft left) {
  std::vector<double> leaders;
  for (std::uint64_t trial = 0; trial < trials; ++trial) {
    leaders.push_back(static_cast<double>(left(StreamName{.seed = seed, .trial = trial})));
  }
  std::ranges::sort(leaders);
  return leaders;
}

template <class Engine>
AgentCount leaders_in_the_middle(Engine engine) {
  engine.watch(Watch::nothing);
  engine.advance(middle_of_pll * engine.size());
  return engine.leaders();
}

struct LeadersOfPll {
  AgentCount n = 0;
  std::uint64_t trials = 0;
  Pll protocol = pll_with({}, n);

  std::vector<double> of_agents() const {
    AgentMemory memory;
    return leaders_sample(trials, 1, [&](const StreamName& stream) {
      return leaders_in_the_middle(Agents<Pll>(protocol, n, 0, stream, memory));
    });
  }
  std::vector<double> of_counts() const {
    return leaders_sample(trials, 2, [&](const StreamName& stream) {
      return leaders_in_the_middle(Counts<Pll>(protocol, n, 0, stream));
    });
  }
  std::vector<double> of_plain_batches(BatchFlaw flaw) const {
    return leaders_sample(trials, 3, [&](const StreamName& stream) {
      PlainBatches<Pll> simulation(protocol, n, stream, flaw);
      simulation.run(middle_of_pll * n, [] { return false; });
      return simulation.leaders();
    });
  }
};

TEST(LeadersOfPll, HaveOneLawInCountsAndAgents) {
  for (const LeadersOfPll& left : {LeadersOfPll{1000, 2000}, LeadersOfPll{10'000, 400}}) {
    const TestResult result = kolmogorov_smirnov(left.of_counts(), left.of_agents());
    EXPECT_GE(result.p_value, rejected_below) << "n=" << left.n << " seeds 1 and 2, " << left.trials
                                              << " trials: D = " << result.statistic;
  }
}

TEST(LeadersOfPll, TellCountsFromMutants) {
  const auto p_value = [](const LeadersOfPll& left, BatchFlaw flaw) {
    return kolmogorov_smirnov(left.of_plain_batches(flaw), left.of_agents()).p_value;
  };
  const LeadersOfPll few{1000, 2000};
  EXPECT_GE(p_value(few, BatchFlaw::none), rejected_below);
  EXPECT_LT(p_value(few, BatchFlaw::forgets_null_interactions), rejected_below);
  EXPECT_LT(p_value(few, BatchFlaw::forgets_the_collision), rejected_below);
  EXPECT_LT(p_value({10'000, 400}, BatchFlaw::forgets_the_collision), rejected_below);
}

// --- what is observed on the way ---

// Two samples of whole numbers, by chi-square over all values, rare ones pooled.
TestResult compare(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) {
  const std::uint64_t most = std::max(*std::ranges::max_element(a), *std::ranges::max_element(b));
  std::vector<double> counts_a(most + 1, 0.0), counts_b(most + 1, 0.0);
  for (const std::uint64_t value : a) ++counts_a[value];
  for (const std::uint64_t value : b) ++counts_b[value];
  std::vector<double> pooled_a, pooled_b;
  double sum_a = 0, sum_b = 0;
  for (std::size_t value = 0; value <= most; ++value) {
    sum_a += counts_a[value];
    sum_b += counts_b[value];
    if (sum_a + sum_b < 40 && value != most) continue;
    pooled_a.push_back(std::exchange(sum_a, 0));
    pooled_b.push_back(std::exchange(sum_b, 0));
  }
  return chi_square_two_sample(pooled_a, pooled_b);
}

template <class MakeEngine>
std::vector<std::vector<std::uint64_t>> observed(std::uint64_t trials, std::uint64_t seed,
                                                 MakeEngine make_engine) {
  std::vector<std::vector<std::uint64_t>> all(3);
  for (std::uint64_t trial = 0; trial < trials; ++trial) {
    auto engine = make_engine(StreamName{.seed = seed, .trial = trial});
    engine.advance(20 * engine.size());  // the milestones are over, the last leaders need not be
    const auto observations = engine.observations();
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].push_back(std::get<std::uint64_t>(observations[i].value));
    }
  }
  return all;
}

template <class... Costs>
void expect_same_observations(const PllConstants& constants, AgentCount n, std::uint64_t trials) {
  const Pll protocol = pll_with(constants, n);
  AgentMemory memory;
  const auto right = observed(trials, 1, [&](const StreamName& stream) {
    return Agents<Pll>(protocol, n, 0, stream, memory);
  });
  const auto check = [&]<class C>(C) {
    const auto seen = observed(trials, 2, [&](const StreamName& stream) {
      return Counts<Pll, C>(protocol, n, 0, stream);
    });
    for (std::size_t i = 0; i < right.size(); ++i) {
      const TestResult result = compare(seen[i], right[i]);
      EXPECT_GE(result.p_value, rejected_below)
          << "observation " << i << " of pll, " << text_of(constants) << ", n=" << n
          << ", seeds 1 and 2, " << trials << " trials: chi-square " << result.statistic;
    }
  };
  (check(Costs{}), ...);
}

// With few levels many leaders are left when the first agent ticks, so that a wrong moment shows.
TEST(CountsObservations, OfPllHaveTheLawOfAgents) {
  expect_same_observations<CountsCosts, EndlessBatches, DrawnTogether>({.c_max = 3, .k = 1}, 200,
                                                                       2500);
  expect_same_observations<CountsCosts, DrawnTogether>({.c_max = 8, .k = 2}, 500, 800);
}

// The same trial by a tally that is told of the milestone only at the end of the batch.
TEST(CountsObservations, TellAMomentFromALaterOne) {
  const Pll protocol = pll_with({.c_max = 3, .k = 1}, 200);
  AgentMemory memory;
  const auto make = [&](const StreamName& stream) {
    return Agents<Pll>(protocol, 200, 0, stream, memory);
  };
  const auto right = observed(4000, 1, make);
  std::vector<std::uint64_t> late;
  for (std::uint64_t trial = 0; trial < 4000; ++trial) {
    auto engine = make({.seed = 2, .trial = trial});
    engine.watch(Watch::nothing);
    const auto in_epoch_1 = [&] {
      return std::get<std::uint64_t>(engine.observations()[0].value) == 1;
    };
    while (in_epoch_1()) engine.advance(std::uint64_t{9});
    late.push_back(engine.leaders());
  }
  EXPECT_LT(compare(late, right[1]).p_value, rejected_below);
}

}  // namespace
}  // namespace conclave::tests
