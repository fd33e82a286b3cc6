#include "conclave/chain/hitting_times.hpp"

#include <bit>
#include <cmath>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/error.hpp"
#include "conclave/chain/components.hpp"
#include "conclave/chain/detail/elimination.hpp"
#include "conclave/chain/detail/equations.hpp"
#include "conclave/chain/detail/krylov.hpp"

#include "tests/support/known_chains.hpp"

namespace conclave::chain {
namespace {

using namespace detail;

using tests::KnownChain;

HittingTimes solve(const KnownChain& known, const HittingOptions& options = {}) {
  return hitting_times(known.chain.rounded(), known.target_set(), options);
}

// Gaussian elimination with pivoting on the full matrix I - Q, in long double.
std::vector<long double> dense_solution(const MarkovChain& chain, const StateSet& target,
                                        std::span<const double> costs) {
  const std::size_t n = chain.size();
  std::vector<std::vector<long double>> rows(n, std::vector<long double>(n + 1));
  for (StateIndex i = 0; i < n; ++i) {
    rows[i][i] = 1;
    if (target.contains(i)) continue;
    rows[i][n] = costs[i];
    for (std::size_t k = 0; k < chain.successors(i).size(); ++k) {
      rows[i][chain.successors(i)[k]] -= static_cast<long double>(chain.probabilities(i)[k]);
    }
  }
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t pivot = c;
    for (std::size_t i = c; i < n; ++i) {
      if (std::abs(rows[i][c]) > std::abs(rows[pivot][c])) pivot = i;
    }
    std::swap(rows[c], rows[pivot]);
    for (std::size_t i = 0; i < n; ++i) {
      if (i == c || rows[i][c] == 0) continue;
      const long double factor = rows[i][c] / rows[c][c];
      for (std::size_t j = c; j <= n; ++j) rows[i][j] -= factor * rows[c][j];
    }
  }
  std::vector<long double> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = rows[i][n] / rows[i][i];
  return x;
}

// A walk on 0 ... n-1 that moves either way; the target is the last state: n - 1 squared steps.
MarkovChain line(StateIndex n) {
  ChainBuilder builder;
  for (StateIndex i = 0; i < n; ++i) {
    if (i > 0) builder.add(i - 1, 0.5);
    builder.add(std::min(i + 1, n - 1), i == 0 ? 1 : 0.5);
    builder.end_row();
  }
  return std::move(builder).build();
}

StateSet single(std::size_t states, StateIndex state) {
  return set_of(std::vector<StateIndex>{state}, states);
}

TEST(MarkovChain, MergesTransitionsToTheSameState) {
  ChainBuilder builder;
  builder.add(1, 0.25);
  builder.add(0, 0.5);
  builder.add(1, 0.25);
  builder.end_row();
  builder.add(1, 1);
  builder.end_row();
  const MarkovChain chain = std::move(builder).build();
  ASSERT_EQ(chain.transitions(), 3u);
  EXPECT_EQ(chain.successors(0)[1], 1u);
  EXPECT_EQ(chain.probabilities(0)[1], 0.5);
  EXPECT_EQ(chain.largest_defect().first, 0);
}

TEST(Components, ComeAfterThoseTheyLeadTo) {
  const MarkovChain chain = tests::random_chain(3000, 1, 5).chain.rounded();
  const StateSet target = single(3000, 17);
  const Components all = components(chain, target);
  std::vector<std::size_t> component(3000, 3000);
  for (std::size_t c = 0; c < all.count(); ++c) {
    for (const StateIndex state : all.states(c)) component[state] = c;
  }
  EXPECT_EQ(all.order.size(), 2999u);
  EXPECT_GT(all.count(), 1000u);
  EXPECT_LT(all.count(), 2999u);  // there is a cycle
  for (StateIndex state = 0; state < 3000; ++state) {
    if (state == 17) continue;
    for (const StateIndex to : chain.successors(state)) {
      EXPECT_TRUE(to == 17 || component[to] <= component[state]) << state;
    }
  }
}

TEST(HittingTimes, OfFratricideAreTheSquareOfOneLessThanTheAgents) {
  for (const StateIndex n : {2u, 3u, 50u, 1000u}) {
    const HittingTimes times = solve(tests::fratricide(n));
    EXPECT_NEAR(times.mean[n - 1], static_cast<double>(n - 1) * (n - 1), 1e-9 * n * n);
    EXPECT_EQ(times.slowest(), n - 1);
  }
}

TEST(HittingTimes, OfCoalescenceOnRingsAreABinomialCoefficient) {
  for (const bool undirected : {false, true}) {
    for (unsigned n = 2; n <= 12; ++n) {
      const HittingTimes times = solve(tests::coalescence(n, undirected));
      EXPECT_NEAR(times.mean[0], (n + 1.0) * n * (n - 1.0) / 6, 1e-9) << n;
    }
  }
}

TEST(HittingTimes, OfItaiAndRodehAreThePublishedRounds) {
  EXPECT_NEAR(solve(tests::itai_rodeh(3, 8)).mean[0], 64.0 / 63, 1e-12);
  EXPECT_NEAR(solve(tests::itai_rodeh(4, 4)).mean[0], 32.0 / 27, 1e-12);
}

TEST(HittingTimes, AgreeWithDenseEliminationWithinTheCertifiedError) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const KnownChain known = tests::random_chain(120, 3, seed);
    const MarkovChain chain = known.chain.rounded();
    const StateSet target = set_of(std::vector<StateIndex>{3, 50, 119}, 120);
    const HittingTimes times = hitting_times(chain, target, {.variance = true});
    if (times.infinite > 0) continue;
    const std::vector<double> ones(120, 1.0);
    const auto dense = dense_solution(chain, target, ones);
    std::vector<double> second(120);
    for (StateIndex i = 0; i < 120; ++i) {
      EXPECT_NEAR(times.mean[i], static_cast<double>(dense[i]), 1e-12 * times.mean[i]) << seed;
      second[i] = static_cast<double>(2 * dense[i] - 1);
    }
    const auto moments = dense_solution(chain, target, second);
    for (StateIndex i = 0; i < 120; ++i) {
      const auto variance = static_cast<double>(moments[i] - dense[i] * dense[i]);
      EXPECT_NEAR(times.variance[i], variance, 1e-10 * static_cast<double>(moments[i])) << seed;
    }
  }
}

TEST(HittingTimes, WeighStepsByTheirCostsSomeOfWhichMayBeNothing) {
  const MarkovChain chain = tests::random_chain(150, 4, 9).chain.rounded();
  const StateSet target = single(150, 149);
  std::vector<double> costs(150);
  for (std::size_t i = 0; i < costs.size(); ++i)
    costs[i] = i % 3 == 0 ? 0.0 : static_cast<double>(i);
  const HittingTimes times = hitting_times(chain, target, {.costs = costs});
  const auto dense = dense_solution(chain, target, costs);
  EXPECT_LE(times.relative_error, 1e-9);
  for (StateIndex i = 0; i < 150; ++i) {
    EXPECT_NEAR(times.mean[i], static_cast<double>(dense[i]), 1e-9 * times.mean[i]);
  }
}

TEST(HittingTimes, OfLargeWellMixingChainsComeFromSweeps) {
  const KnownChain known = tests::random_chain(60'000, 5, 2);
  const MarkovChain chain = known.chain.rounded();
  const HittingTimes times = hitting_times(chain, known.target_set());
  EXPECT_LE(times.relative_error, 1e-9);
  // One step further on: the equation itself, in the form in which nothing was solved.
  for (StateIndex state = 0; state < 1000; ++state) {
    double next = 1;
    for (std::size_t k = 0; k < chain.successors(state).size(); ++k) {
      next += chain.probabilities(state)[k] * times.mean[chain.successors(state)[k]];
    }
    EXPECT_NEAR(next, times.mean[state], 1e-9 * next);
  }
}

// Half of the time a state waits, otherwise it goes to half its number: floor(log2) + 1 steps.
TEST(HittingTimes, OfLargeChainsOfSingleStatesNeedNoSweeps) {
  constexpr StateIndex n = 60'000;
  ChainBuilder builder;
  for (StateIndex i = 0; i < n; ++i) {
    builder.add(i, 0.5);
    builder.add(i / 2, 0.5);
    builder.end_row();
  }
  const HittingTimes times =
      hitting_times(std::move(builder).build(), single(n, 0), {.variance = true});
  EXPECT_EQ(main_use(times.methods).method, Method::elimination);
  EXPECT_LE(times.relative_error, 1e-14);
  for (StateIndex i = 0; i < n; ++i) {
    const double steps = 2.0 * std::bit_width(i);
    EXPECT_NEAR(times.mean[i], steps, 1e-12);
    EXPECT_NEAR(times.variance[i], steps, 1e-9);
  }
}

TEST(HittingTimes, OfSlowAndDeepChainsAreCertifiedToo) {
  constexpr StateIndex n = 200'000;
  const HittingTimes walk = hitting_times(line(n), single(n, n - 1));
  EXPECT_NEAR(walk.mean[0] / (static_cast<double>(n - 1) * (n - 1)), 1, 1e-11);
  EXPECT_LE(walk.relative_error, 1e-9);
  ChainBuilder builder;  // one state after the other, each half the time
  for (StateIndex i = 0; i < n; ++i) {
    builder.add(i, i + 1 < n ? 0.5 : 1);
    if (i + 1 < n) builder.add(i + 1, 0.5);
    builder.end_row();
  }
  const HittingTimes deep =
      hitting_times(std::move(builder).build(), single(n, n - 1), {.variance = true});
  EXPECT_NEAR(deep.mean[0], 2.0 * (n - 1), 1e-6);
  EXPECT_NEAR(deep.variance[0], 2.0 * (n - 1), 1e-3);
}

// Two clusters that are left with probability 10^-12: 1 - q_ii would have lost everything.
TEST(HittingTimes, OfNearlyReducibleChainsKeepTheirDigits) {
  constexpr double rare = 1e-12;
  ChainBuilder builder;
  for (StateIndex state = 0; state < 3; ++state) {
    builder.add((state + 1) % 3, 0.5);
    builder.add((state + 2) % 3, state == 0 ? 0.5 - rare : 0.5);
    if (state == 0) builder.add(3, rare);
    builder.end_row();
  }
  builder.add(3, 1);
  builder.end_row();
  const HittingTimes times = hitting_times(std::move(builder).build(), single(4, 3));
  // By symmetry a = 1 + (1 - rare) b and b = 1 + (a + b) / 2 with b the mean of the other two.
  EXPECT_NEAR(times.mean[0] * rare / (3 - 2 * rare), 1, 1e-10);
  EXPECT_LE(times.relative_error, 1e-9);
}

TEST(HittingTimes, AreInfiniteWhereTheTargetMayBeMissed) {
  ChainBuilder builder;
  builder.add(1, 0.5), builder.add(2, 0.5), builder.end_row();
  builder.add(1, 1.0), builder.end_row();  // the target
  builder.add(2, 1.0), builder.end_row();  // a trap
  builder.add(1, 0.25), builder.add(3, 0.75), builder.end_row();
  const HittingTimes times = hitting_times(std::move(builder).build(), single(4, 1));
  EXPECT_TRUE(std::isinf(times.mean[0]));
  EXPECT_TRUE(std::isinf(times.mean[2]));
  EXPECT_EQ(times.infinite, 2u);
  EXPECT_EQ(times.mean[1], 0);
  EXPECT_DOUBLE_EQ(times.mean[3], 4);
}

TEST(HittingTimes, HaveADistributionThatAgreesWithMeanAndVariance) {
  const KnownChain known = tests::fratricide(6);
  const MarkovChain chain = known.chain.rounded();
  const HittingTimes times = solve(known, {.variance = true});
  const auto law = hitting_distribution(chain, known.target_set(), known.from, 4000);
  double mean = 0;
  double second = 0;
  for (std::size_t t = 0; t < law.size(); ++t) {
    mean += static_cast<double>(t) * law[t];
    second += static_cast<double>(t * t) * law[t];
  }
  EXPECT_NEAR(std::accumulate(law.begin(), law.end(), 0.0), 1, 1e-12);
  EXPECT_NEAR(mean, times.mean[5], 1e-9);
  EXPECT_NEAR(second - mean * mean, times.variance[5], 1e-6);
}

// A certificate that could not fail would be worth nothing.
TEST(Certificate, SeesEverySolutionThatIsWrong) {
  const KnownChain known = tests::random_chain(500, 5, 4);
  const MarkovChain chain = known.chain.rounded();
  const StateSet target = known.target_set();
  const Equations equations(chain, target);
  const std::vector<double> ones(500, 1.0);
  const std::vector<double> right = hitting_times(chain, target).mean;
  EXPECT_LT(certify(equations, ones, DoubleDoubleVector(right)).relative_error, 1e-10);
  for (StateIndex state = 0; state < 499; ++state) {
    std::vector<double> wrong = right;
    wrong[state] *= 1 + 1e-8;
    EXPECT_GE(certify(equations, ones, DoubleDoubleVector(wrong)).relative_error, 1e-8) << state;
  }
  std::vector<double> scaled = right;
  for (double& value : scaled) value *= 1 + 1e-8;
  EXPECT_GE(certify(equations, ones, DoubleDoubleVector(scaled)).relative_error, 0.99e-8);
}

// One state without a number must not be forgotten over those that come later.
TEST(Certificate, ProvesNothingWhereSomethingIsNotANumber) {
  const KnownChain known = tests::random_chain(500, 5, 4);
  const MarkovChain chain = known.chain.rounded();
  const StateSet target = known.target_set();
  const Equations equations(chain, target);
  std::vector<double> values = hitting_times(chain, target).mean;
  values[0] = std::nan("");
  const Certificate certificate =
      certify(equations, std::vector<double>(500, 1.0), DoubleDoubleVector(values));
  EXPECT_TRUE(std::isinf(certificate.relative_error));
  EXPECT_TRUE(std::isinf(certificate.residual));
}

// Three times as likely away from the target as towards it.
MarkovChain against_the_drift(StateIndex n) {
  ChainBuilder builder;
  for (StateIndex i = 0; i < n; ++i) {
    if (i > 0) builder.add(i - 1, i + 1 < n ? 0.75 : 1);
    if (i + 1 < n) builder.add(i + 1, i > 0 ? 0.25 : 1);
    builder.end_row();
  }
  return std::move(builder).build();
}

TEST(HittingTimes, AgainstTheDriftAreCertifiedHoweverLargeTheyAre) {
  for (const StateIndex n : {5u, 20u, 60u, 400u}) {
    long double step = 1;  // from i to i + 1: 4 + 3 times that from i - 1 to i
    long double expected = 0;
    for (StateIndex i = 0; i + 1 < n; ++i, step = 4 + 3 * step) expected += step;
    const HittingTimes times = hitting_times(against_the_drift(n), single(n, n - 1));
    EXPECT_LE(times.relative_error, 1e-9) << n;
    EXPECT_NEAR(times.mean[0] / static_cast<double>(expected), 1, 1e-14) << n;
    EXPECT_EQ(times.infinite, 0u);
  }
}

TEST(HittingTimes, BeyondDoublesAreRefusedAndNotCalledInfinite) {
  EXPECT_THROW(hitting_times(against_the_drift(700), single(700, 699)), std::runtime_error);
  ChainBuilder builder;
  builder.add(0, 1), builder.add(1, 1e-310), builder.end_row();  // left after 10^310 steps
  builder.add(1, 1), builder.end_row();
  EXPECT_THROW(hitting_times(std::move(builder).build(), single(2, 1)), std::runtime_error);
}

TEST(HittingTimes, TakeTheSmallestProbabilities) {
  ChainBuilder builder;
  builder.add(0, 1), builder.add(1, 1e-300), builder.end_row();
  builder.add(2, 1), builder.end_row();
  builder.add(2, 1), builder.end_row();
  const HittingTimes times = hitting_times(std::move(builder).build(), single(3, 2));
  EXPECT_DOUBLE_EQ(times.mean[0], 1e300);
  EXPECT_LE(times.relative_error, 1e-9);
}

// 0 and 1 pay nothing, 2 pays very little and 3 very much.
TEST(HittingTimes, KnowWhereNothingIsPaid) {
  ChainBuilder builder;
  builder.add(1, 0.5), builder.add(4, 0.5), builder.end_row();
  builder.add(0, 0.5), builder.add(4, 0.5), builder.end_row();
  builder.add(0, 0.5), builder.add(4, 0.5), builder.end_row();
  builder.add(2, 1), builder.end_row();
  builder.add(4, 1), builder.end_row();
  const MarkovChain chain = std::move(builder).build();
  const std::vector<double> costs{0, 0, 0.25, 1000, 0};
  const HittingTimes times = hitting_times(chain, single(5, 4), {.costs = costs});
  EXPECT_EQ(times.mean, (std::vector<double>{0, 0, 0.25, 1000.25, 0}));
  EXPECT_LE(times.relative_error, 1e-9);
}

// A walk on a square, more or less attracted by some states: much slower to mix than the sweeps and
// BiCGSTAB can bear, and elimination in the order given would fill in much.
MarkovChain square(StateIndex width, std::uint64_t seed) {
  Stream stream({.seed = seed});
  ChainBuilder builder;
  for (StateIndex i = 0; i < width * width; ++i) {
    std::vector<std::pair<StateIndex, double>> ways;
    if (i >= width) ways.emplace_back(i - width, 1 + stream.below(10));
    if (i % width > 0) ways.emplace_back(i - 1, 1 + stream.below(10));
    if (i % width + 1 < width) ways.emplace_back(i + 1, 1 + stream.below(10));
    if (i + width < width * width) ways.emplace_back(i + width, 1 + stream.below(10));
    double sum = 0;
    for (const auto& [to, weight] : ways) sum += weight;
    for (const auto& [to, weight] : ways) builder.add(to, weight / sum);
    builder.end_row();
  }
  return std::move(builder).build();
}

// The equations of all states but the last, which is the target.
LocalSystem system_of(const MarkovChain& chain) {
  LocalSystem system;
  for (StateIndex i = 0; i + 1 < chain.size(); ++i) {
    double exit = 0;
    for (std::size_t k = 0; k < chain.successors(i).size(); ++k) {
      if (chain.successors(i)[k] == i) continue;
      if (chain.successors(i)[k] + 1 == chain.size()) {
        exit += chain.probabilities(i)[k];
      } else {
        system.pattern.columns.push_back(chain.successors(i)[k]);
        system.values.push_back(chain.probabilities(i)[k]);
      }
    }
    system.end_row(exit);
  }
  return system;
}

// State 0 leads to 1 with 9/10 and to 98 others, all lead back to it with 1/2. Without 0, state 1
// stays with 9/20, goes to the others with 1/20, which incomplete elimination takes to be lost, and
// leaves with 1/2.
TEST(IncompleteFactors, LoseOnlyWhatFallsOutsideOfTheirPattern) {
  LocalSystem system;
  for (std::uint32_t i = 0; i < 100; ++i) {
    std::vector<LocalSystem::Entry> row;
    for (std::uint32_t j = 1; i == 0 && j < 100; ++j) row.emplace_back(j, j == 1 ? 0.9 : 0.1 / 98);
    if (i > 0) row.emplace_back(0, 0.5);
    system.add_row(row, i > 0 ? 0.5 : 0);
  }
  const Factors incomplete(system, system.pattern, Factors::Extent::incomplete);
  std::vector<double> x(100, 0.0);
  x[1] = 1;
  incomplete.solve(x);
  EXPECT_NEAR(x[1], 1 / (0.5 + 0.05), 1e-12);
}

// In another order the factors are others, and the solution is the same.
TEST(Factors, SolveInAnyOrder) {
  for (const bool is_random : {false, true}) {
    const LocalSystem system =
        system_of(is_random ? tests::random_chain(700, 3, 7).chain.rounded() : square(40, 3));
    const auto order = elimination_order(system);
    const LocalSystem ordered = reordered(system, order);
    std::vector<double> x(system.size(), 1.0);
    Factors(ordered, *filled_pattern(ordered.pattern, 1e12), Factors::Extent::complete).solve(x);
    std::vector<double> plain(system.size(), 1.0);
    Factors(system, *filled_pattern(system.pattern, 1e12), Factors::Extent::complete).solve(plain);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i] / plain[order[i]], 1, 1e-12) << i;
  }
}

// Twenty clusters of 100 states in a circle; each state leads to the next cluster once in 10^7
// steps.
MarkovChain circle_of_clusters() {
  constexpr StateIndex size = 100;
  constexpr StateIndex states = 20 * size;
  Stream stream({.seed = 4});
  ChainBuilder builder;
  for (StateIndex state = 0; state < states; ++state) {
    builder.add((state + size) % states, 1e-7);
    for (int k = 0; k < 4; ++k) builder.add(state / size * size + stream.below(size), 0.24);
    builder.add(state / size * size, 0.04 - 1e-7);
    builder.end_row();
  }
  return std::move(builder).build();
}

TEST(Clusters, SolveWhatTheWalkRarelyLeaves) {
  const MarkovChain chain = circle_of_clusters();
  const auto target = static_cast<StateIndex>(chain.size() - 1);
  const HittingTimes expected = hitting_times(chain, single(chain.size(), target));
  const HittingTimes times =
      hitting_times(chain, single(chain.size(), target), {.method = Method::clusters});
  EXPECT_EQ(main_use(times.methods).method, Method::clusters);
  EXPECT_GT(times.mean[0], 1e8);
  EXPECT_LE(times.relative_error, 1e-9);
  EXPECT_NEAR(times.mean[0], expected.mean[0], 2e-9 * expected.mean[0]);
  EXPECT_FALSE(Clusters::of(system_of(square(40, 3))));  // no transition is rare
}

TEST(Methods, AllAgreeOnAChainThatSuitsThem) {
  const MarkovChain chain = square(60, 6);
  const StateSet target = single(chain.size(), 0);
  const HittingTimes expected = hitting_times(chain, target);
  for (const MethodInfo& info : numerical_methods()) {
    if (info.method == Method::sweeps || info.method == Method::clusters) continue;
    const HittingTimes times = hitting_times(chain, target, {.method = info.method});
    ASSERT_FALSE(times.methods.empty());
    const MethodUse& use = main_use(times.methods);
    EXPECT_EQ(use.states, chain.size() - (info.method == Method::multiprecision ? 0 : 1));
    EXPECT_TRUE(info.method == Method::automatic || use.method == info.method) << info.name;
    for (const StateIndex state : {1u, 100u, 3599u}) {
      EXPECT_NEAR(times.mean[state], expected.mean[state], 2e-9 * expected.mean[state]);
    }
  }
  const MarkovChain mixing = tests::random_chain(3000, 5, 2).chain.rounded();
  const auto by_sweeps = hitting_times(mixing, single(3000, 2999), {.method = Method::sweeps});
  EXPECT_EQ(main_use(by_sweeps.methods).method, Method::sweeps);
  const auto by_auto = hitting_times(mixing, single(3000, 2999));
  EXPECT_EQ(main_use(by_auto.methods).method, Method::bicgstab);
  EXPECT_NEAR(by_auto.mean[0], by_sweeps.mean[0], 2e-9 * by_auto.mean[0]);
}

TEST(Methods, ThatDoNotApplySaySo) {
  const MarkovChain chain = line(100);
  for (const Method method : {Method::sweeps, Method::clusters}) {
    EXPECT_THROW(hitting_times(chain, single(100, 99), {.method = method}), Error);
  }
  try {
    parse_method("eliminaton", numerical_methods());
    FAIL();
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("did you mean 'elimination'"), std::string::npos);
    EXPECT_NE(text.find("known: auto, sweeps, elimination"), std::string::npos);
  }
}

TEST(Methods, AutoSaysWhatItChoseAndWhy) {
  const HittingTimes slow = hitting_times(against_the_drift(60), single(60, 59));
  EXPECT_EQ(main_use(slow.methods).method, Method::multiprecision);
  const HittingTimes walk = hitting_times(line(100), single(100, 99));
  EXPECT_EQ(main_use(walk.methods).method, Method::elimination);
  EXPECT_NE(main_use(walk.methods).reason.find("fills in little"), std::string::npos);
}

TEST(HittingTimes, AreCertifiedOnLargeSquares) {
  const MarkovChain chain = square(250, 6);
  const HittingTimes times = hitting_times(chain, set_of(std::vector<StateIndex>{0}, chain.size()));
  EXPECT_LE(times.relative_error, 1e-9);
  EXPECT_GT(times.mean.back(), 1e5);
}

}  // namespace
}  // namespace conclave::chain
