// The law of Raft's election: against exact values, and against a second implementation.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/random.hpp"
#include "conclave/base/statistics.hpp"
#include "conclave/network/asynchronous.hpp"
#include "conclave/network/delays.hpp"
#include "conclave/network/wakeups.hpp"
#include "conclave/protocols/message/raft_election.hpp"

#include "tests/support/naive_raft.hpp"

namespace conclave::tests {
namespace {

using network::AdversarialTransit;
using network::ConstantTransit;
using protocols::RaftElection;
using protocols::RaftLogs;
using protocols::RaftRedraw;
using protocols::RaftTimeout;
using Parameters = RaftElection::Parameters;

constexpr double rejection = 1e-6;
constexpr double far_off = 5;  // standard deviations: p below 1e-6
const auto always = [](Interactions) { return true; };

template <class T>
T observed(const TrialResult& result, std::string_view name) {
  const auto found = std::ranges::find(result.observations, name, &Observation::name);
  return found == result.observations.end() ? T{} : std::get<T>(found->value);
}

TrialResult trial_of(const Parameters& parameters, NodeCount n, std::uint64_t trial,
                     bool has_random_delays) {
  const StreamName name{.seed = 3, .trial = trial};
  const RaftElection protocol(parameters, n);
  network::All wakeup(n, name);
  if (!has_random_delays) {
    network::Asynchronous<RaftElection, ConstantTransit> network(protocol, n, name, nullptr, wakeup,
                                                                 {.counts_edges = false});
    return network.run(always);
  }
  network::Uniform delay(n, name);
  network::Asynchronous<RaftElection, AdversarialTransit> network(protocol, n, name, &delay, wakeup,
                                                                  {.counts_edges = false});
  return network.run(always);
}

// How often something is true of a trial, in standard deviations from what is expected.
template <class Question>
double deviation(const Parameters& parameters, NodeCount n, std::uint64_t trials, double expected,
                 Question question) {
  double count = 0;
  for (std::uint64_t trial = 0; trial < trials; ++trial) {
    count += question(trial_of(parameters, n, trial, false)) ? 1 : 0;
  }
  const double all = static_cast<double>(trials);
  return (count - all * expected) / std::sqrt(all * expected * (1 - expected));
}

const auto is_split = [](const TrialResult& result) {
  return observed<bool>(result, "first_split");
};
const auto is_conflict = [](const TrialResult& result) {
  return observed<bool>(result, "first_conflict");
};

// P(Bin(n, 1/spread) > n - majority).
double split_probability(NodeCount n, NodeCount down, double spread) {
  return binomial_tail(n - ((n + down) / 2 + 1) + 1, n, 1 / spread);
}

TEST(RaftLaw, SplitsTheFirstVoteAsOftenAsTheBinomialLawSays) {
  struct Case {
    NodeCount n;
    NodeCount down;
    double spread;
  };
  for (const auto& [n, down, spread] : {Case{3, 0, 2}, Case{2, 1, 10}, Case{5, 0, 3}, Case{4, 1, 5},
                                        Case{9, 0, 2.5}, Case{8, 1, 4}, Case{100, 0, 2.2}}) {
    const Parameters parameters{.spread = spread, .down = down};
    const std::uint64_t trials = n < 50 ? 3000 : 300;
    EXPECT_LT(
        std::abs(deviation(parameters, n, trials, split_probability(n, down, spread), is_split)),
        far_off)
        << "n=" << n << " down=" << down << " spread=" << spread;
  }
  EXPECT_GT(std::abs(deviation({.spread = 3.0}, 5, 3000, split_probability(5, 0, 2.5), is_split)),
            far_off);
}

// etcd's rule before and after its repair: 0.351569 and 4667/20000.
TEST(RaftLaw, LetsTwoServersStandTogetherAsOftenAsItsRuleSays) {
  const Parameters every_tick{.spread = 10, .timeout = RaftTimeout::every_tick};
  const Parameters ticks{.spread = 10, .timeout = RaftTimeout::ticks};
  EXPECT_NEAR(naive::TickLaw(5, 0, 10, 10).first_conflict(), 4667 / 20000.0, 1e-12);
  EXPECT_LT(std::abs(deviation(every_tick, 5, 4000, 0.351569, is_conflict)), far_off);
  EXPECT_LT(std::abs(deviation(ticks, 5, 4000, 4667 / 20000.0, is_conflict)), far_off);
  EXPECT_GT(std::abs(deviation(ticks, 5, 4000, 0.351569, is_conflict)), far_off);
}

// Timeouts of whole units, drawn once: two servers that split the first vote split every vote.
TEST(RaftLaw, SplitsForEverWhereTimeoutsAreDrawnOnce) {
  const Parameters once{
      .timeout = RaftTimeout::ticks, .redraw = RaftRedraw::once, .down = 1, .terms = 30};
  EXPECT_LT(std::abs(deviation(once, 2, 2000, 0.1,
                               [](const TrialResult& result) {
                                 const auto split = observed<std::uint64_t>(result, "split_votes");
                                 EXPECT_EQ(split, is_split(result) ? 30u : 0u);
                                 EXPECT_EQ(result.ending == Ending::converged, split == 0);
                                 return split > 0;
                               })),
            far_off);
}

// Where they are not of whole units, two timeouts that differ by g drift apart: after k terms by k
// g, so that k votes split with probability P(g < 1/k) = 1 - (1 - 1/(10 k))^2.
TEST(RaftLaw, SplitsManyVotesWhereTimeoutsDrawnOnceAreClose) {
  const Parameters once{.redraw = RaftRedraw::once, .down = 1};
  for (const std::uint64_t k : {1u, 3u, 10u}) {
    const double gap = 1 - 1 / (10 * static_cast<double>(k));
    EXPECT_LT(std::abs(deviation(once, 2, 3000, 1 - gap * gap,
                                 [k](const TrialResult& result) {
                                   return observed<std::uint64_t>(result, "split_votes") >= k;
                                 })),
              far_off)
        << k;
  }
}

// Timeouts of whole units: the whole law of the election time, computed and measured.
double fit_of_ticks(NodeCount n, NodeCount down, std::size_t spread, const naive::TickLaw& law) {
  constexpr std::size_t longest = 200;
  constexpr std::uint64_t trials = 4000;
  std::vector<double> expected = law.times(longest);
  for (double& each : expected) each *= trials;
  std::vector<double> counts(longest + 1);
  const Parameters parameters{
      .low = 5, .spread = static_cast<double>(spread), .timeout = RaftTimeout::ticks, .down = down};
  for (std::uint64_t trial = 0; trial < trials; ++trial) {
    const double time = observed<double>(trial_of(parameters, n, trial, false), "election_time");
    ++counts[std::min(static_cast<std::size_t>(time), longest)];
  }
  const Buckets pooled = pool_buckets(counts, expected);
  return chi_square(pooled.observed, pooled.expected).p_value;
}

TEST(RaftLaw, OfTimeoutsInTicksIsThatOfTheChain) {
  EXPECT_NEAR(naive::TickLaw(3, 0, 10, 10).first_split(), 1 / 100.0, 1e-12);
  EXPECT_NEAR(naive::TickLaw(2, 1, 10, 10).first_split(), 1 / 10.0, 1e-12);
  EXPECT_GT(fit_of_ticks(3, 0, 2, naive::TickLaw(3, 0, 5, 2)), rejection);
  EXPECT_GT(fit_of_ticks(5, 0, 3, naive::TickLaw(5, 0, 5, 3)), rejection);
  EXPECT_GT(fit_of_ticks(4, 1, 3, naive::TickLaw(4, 1, 5, 3)), rejection);
  EXPECT_LT(fit_of_ticks(4, 1, 3, naive::TickLaw(4, 2, 5, 3)), rejection);
}

// Two of three servers are left, and only the one with the longer log can win. It loses the first
// vote if the other stands first, with probability 1/2, or within a unit of it.
TEST(RaftLaw, LetsTheLongerLogWin) {
  const Parameters different{.logs = RaftLogs::different, .down = 1};
  const double is_close = 1 - 0.9 * 0.9;
  EXPECT_LT(std::abs(deviation(different, 2, 3000, (1 + is_close) / 2, is_split)), far_off);
  EXPECT_GT(std::abs(deviation({.down = 1}, 2, 3000, (1 + is_close) / 2, is_split)), far_off);
}

struct Sample {
  std::vector<double> times;
  std::vector<double> terms;
  std::vector<double> messages;
};

void sort(Sample& sample) {
  std::ranges::sort(sample.times);
  std::ranges::sort(sample.terms);
  std::ranges::sort(sample.messages);
}

constexpr std::uint64_t sampled = 2000;

Sample by_engine(const naive::RaftCase& given) {
  const Parameters parameters{
      .low = given.low,
      .spread = given.spread,
      .logs = given.has_different_logs ? RaftLogs::different : RaftLogs::equal,
      .down = given.down};
  Sample sample;
  for (std::uint64_t trial = 0; trial < sampled; ++trial) {
    const TrialResult result = trial_of(parameters, given.alive, trial, given.has_random_delays);
    EXPECT_EQ(result.ending, Ending::converged);
    sample.times.push_back(observed<double>(result, "election_time"));
    sample.terms.push_back(static_cast<double>(observed<std::uint64_t>(result, "terms")));
    sample.messages.push_back(result.interactions.as_double());
  }
  sort(sample);
  return sample;
}

Sample by_hand(const naive::RaftCase& given) {
  Sample sample;
  for (std::uint64_t trial = 0; trial < sampled; ++trial) {
    Stream coins({.seed = 77, .trial = trial});
    const naive::RaftRun run = naive::Raft(given, coins).run();
    sample.times.push_back(run.election_time);
    sample.terms.push_back(static_cast<double>(run.terms));
    sample.messages.push_back(static_cast<double>(run.messages));
  }
  sort(sample);
  return sample;
}

double worst_fit(const Sample& a, const Sample& b) {
  return std::min({kolmogorov_smirnov(a.times, b.times).p_value,
                   kolmogorov_smirnov(a.terms, b.terms).p_value,
                   kolmogorov_smirnov(a.messages, b.messages).p_value});
}

// Spreads so small that votes split often, and low timeouts, so that later terms begin early.
TEST(RaftLaw, IsThatOfASecondImplementation) {
  for (const naive::RaftCase& given :
       {naive::RaftCase{.alive = 3, .spread = 2},
        naive::RaftCase{.alive = 4, .down = 1, .spread = 3, .has_random_delays = true},
        naive::RaftCase{.alive = 4, .down = 1, .spread = 3, .has_different_logs = true},
        naive::RaftCase{.alive = 4,
        .down = 1,
        .low = 1.6,
        .spread = 1.6,
        .has_random_delays = true,
        .has_different_logs = true},
        naive::RaftCase{.alive = 7, .low = 2.5, .spread = 3},
        naive::RaftCase{.alive = 7, .low = 2, .spread = 4, .has_random_delays = true}}) {
    EXPECT_GT(worst_fit(by_engine(given), by_hand(given)), rejection) << given.alive;
  }
  naive::RaftCase given{.alive = 7, .low = 2, .spread = 4, .has_random_delays = true};
  const Sample right = by_engine(given);
  given.restarts_on_vote = false;
  EXPECT_LT(worst_fit(right, by_hand(given)), rejection);
}

}  // namespace
}  // namespace conclave::tests
