// Elections on rings and graphs, and implicit election: every trial sends what a second description
// of the algorithm says, and the means are those of theory.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/random.hpp"
#include "conclave/base/statistics.hpp"
#include "conclave/model/port_graph.hpp"
#include "conclave/network/adversary.hpp"
#include "conclave/network/asynchronous.hpp"
#include "conclave/network/synchronous.hpp"
#include "conclave/network/wakeups.hpp"
#include "conclave/protocols/message/chang_roberts.hpp"
#include "conclave/protocols/message/flood_max.hpp"
#include "conclave/protocols/message/hirschberg_sinclair.hpp"
#include "conclave/protocols/message/itai_rodeh.hpp"
#include "conclave/protocols/message/peterson.hpp"
#include "conclave/protocols/message/sublinear_sync.hpp"

#include "tests/support/naive_rings.hpp"
#include "tests/support/ring_network.hpp"

namespace conclave::tests {
namespace {

using network::AdversarialTransit;
using network::ConstantTransit;
using protocols::ChangRoberts;
using protocols::FloodMax;
using protocols::HirschbergSinclair;
using protocols::ItaiRodeh;
using protocols::ItaiRodehReading;
using protocols::Peterson;
using protocols::SublinearSync;

const auto always = [](Interactions) { return true; };
constexpr double far_off = 5;  // standard deviations: p below 1e-6

template <class P>
PortGraph ring_of(std::uint32_t n) {
  return ring(n, network_of<P> == Topology::undirected_ring);
}

// Messages without the announcement.
std::uint64_t of_election(const TrialResult& result) {
  std::uint64_t sum = 0;
  for (const KindCount& each : result.network->by_kind) {
    if (each.kind != "LEADER") sum += each.messages;
  }
  return sum;
}

template <class Network>
naive::Ring identifiers(const Network& network) {
  naive::Ring ids;
  for (std::uint32_t i = 0; i < network.state().n(); ++i) {
    ids.push_back(network.state().state(i).id);
  }
  return ids;
}

struct Counted {
  std::uint64_t messages;
  naive::Ring ids;
};

// One trial with all nodes awake; `delay` is null for unit delays.
template <class P>
Counted count(std::uint32_t n, std::uint64_t trial,
              const network::AdversaryEntry<network::DelayAdversary>* delay = nullptr) {
  const StreamName name{.seed = 7, .trial = trial};
  const P protocol({}, n);
  const PortGraph graph = ring_of<P>(n);
  network::All wakeup(n, name);
  const auto run = [&](auto&& network) {
    const TrialResult result = network.run(always);
    EXPECT_EQ(result.ending, Ending::converged) << P::info.name << " n = " << n;
    EXPECT_EQ(result.network->informed, n);
    EXPECT_EQ(result.network->by_kind.back().messages, n);
    return Counted{of_election(result), identifiers(network)};
  };
  if (delay == nullptr) {
    return run(network::Asynchronous<P, ConstantTransit>(protocol, n, name, nullptr, wakeup,
                                                         {.graph = &graph}));
  }
  const auto adversary = delay->make(n, name);
  return run(network::Asynchronous<P, AdversarialTransit>(protocol, n, name, adversary.get(),
                                                          wakeup, {.graph = &graph}));
}

template <class P, class Naive>
void expect_counts_of(Naive naive) {
  for (const std::uint32_t n : {3u, 4u, 5u, 8u, 13u, 64u, 301u}) {
    for (std::uint64_t trial = 0; trial < 20; ++trial) {
      const Counted counted = count<P>(n, trial);
      EXPECT_EQ(counted.messages, naive(counted.ids)) << P::info.name << " n=" << n << ' ' << trial;
    }
  }
}

TEST(Rings, SendWhatTheOrderOfTheIdentifiersSays) {
  expect_counts_of<ChangRoberts>(naive::chang_roberts);
  expect_counts_of<Peterson>(naive::peterson);
  expect_counts_of<HirschbergSinclair>(naive::hirschberg_sinclair);
}

// Whatever the delays: exactly as many, or, where defeat may come early, at most.
TEST(Rings, SendAsManyMessagesWhateverTheDelays) {
  for (const auto& delay : network::delays()) {
    for (std::uint64_t trial = 0; trial < 5; ++trial) {
      const Counted lcr = count<ChangRoberts>(50, trial, &delay);
      EXPECT_EQ(lcr.messages, naive::chang_roberts(lcr.ids)) << delay.info.name;
      const Counted peterson = count<Peterson>(50, trial, &delay);
      EXPECT_EQ(peterson.messages, naive::peterson(peterson.ids)) << delay.info.name;
      const Counted both = count<HirschbergSinclair>(50, trial, &delay);
      EXPECT_LE(both.messages, naive::hirschberg_sinclair(both.ids)) << delay.info.name;
    }
  }
}

// Fractions that two independent computations agree on; n H_n is Chang and Roberts' own.
TEST(Rings, HaveTheMeansOfTheory) {
  double harmonic = 1;
  for (std::size_t n = 2; n <= 7; ++n) {
    harmonic += 1.0 / static_cast<double>(n);
    EXPECT_NEAR(naive::mean_over_orders(n, naive::chang_roberts), static_cast<double>(n) * harmonic,
                1e-9);
  }
  const std::array<double, 5> both_ways{23, 88 / 3.0, 158 / 3.0, 306 / 5.0, 1051 / 15.0};
  const std::array<double, 5> peterson{9, 44 / 3.0, 65 / 3.0, 142 / 5.0, 1547 / 45.0};
  for (std::size_t n = 3; n <= 7; ++n) {
    EXPECT_NEAR(naive::mean_over_orders(n, naive::hirschberg_sinclair), both_ways[n - 3], 1e-9);
    EXPECT_NEAR(naive::mean_over_orders(n, naive::peterson), peterson[n - 3], 1e-9);
  }
}

// How many standard deviations the mean of a sample is off.
double off(const std::vector<double>& sample, double mean) {
  const Summary summary = summarize(sample);
  return std::abs(summary.mean - mean) /
         std::sqrt(summary.variance / static_cast<double>(sample.size()));
}

TEST(ChangRoberts, SendsNHarmonicMessagesInTheMean) {
  for (const std::uint32_t n : {3u, 16u, 100u}) {
    double harmonic = 0;
    for (std::uint32_t i = 1; i <= n; ++i) harmonic += 1.0 / i;
    std::vector<double> sample;
    for (std::uint64_t trial = 0; trial < 2000; ++trial) {
      sample.push_back(static_cast<double>(count<ChangRoberts>(n, trial).messages));
    }
    EXPECT_LT(off(sample, n * harmonic), far_off) << n;
    EXPECT_GT(off(sample, n * harmonic * 1.05), far_off) << n;
  }
}

std::vector<double> tokens(const ItaiRodeh::Parameters& parameters, std::uint32_t n) {
  std::vector<double> sample;
  const PortGraph graph = ring(n, false);
  const ItaiRodeh protocol(parameters, n);
  for (std::uint64_t trial = 0; trial < 4000; ++trial) {
    const StreamName name{.seed = 5, .trial = trial};
    network::All wakeup(n, name);
    network::Asynchronous<ItaiRodeh, ConstantTransit> network(
        protocol, n, name, nullptr, wakeup, {.has_identifiers = false, .graph = &graph});
    const TrialResult result = network.run(always);
    EXPECT_EQ(result.ending, Ending::converged);
    sample.push_back(static_cast<double>(of_election(result)));
  }
  return sample;
}

TEST(ItaiRodeh, SendsAsManyTokensInTheMeanAsAllDrawsTogether) {
  struct Case {
    std::uint32_t n;
    std::uint32_t k;
    double mean;
  };
  for (const auto& [n, k, mean] : {Case{2, 2, 7}, Case{3, 2, 59 / 4.0}, Case{3, 3, 163 / 16.0},
                                   Case{4, 2, 526 / 21.0}, Case{4, 4, 4436 / 315.0}}) {
    EXPECT_NEAR(naive::ItaiRodehMean(n, k).from((1u << n) - 1), mean, 1e-9) << n << ' ' << k;
    EXPECT_LT(off(tokens({.identifiers = k}, n), mean), far_off) << n << ' ' << k;
    EXPECT_GT(off(tokens({.identifiers = k + 1}, n), mean), far_off) << n << ' ' << k;
  }
}

TEST(ItaiRodeh, NeedsNoRoundNumbersAndWithFokkinkAndPangNoMarks) {
  EXPECT_EQ(tokens({.identifiers = 2, .round_numbers = 1}, 4), tokens({.identifiers = 2}, 4));
  EXPECT_EQ(tokens({.identifiers = 2, .round_numbers = 2}, 4), tokens({.identifiers = 2}, 4));
  const auto reading = ItaiRodehReading::fokkink_pang_b;
  EXPECT_LT(off(tokens({.reading = reading, .identifiers = 2}, 3), 91 / 8.0), far_off);
  EXPECT_LT(off(tokens({.reading = reading, .identifiers = 2}, 4), 809 / 42.0), far_off);
}

// A path, a ring, a star with a tail: one message per arc and round.
TEST(FloodMax, SendsTheDiameterTimesTheArcs) {
  const std::vector<std::vector<Digraph::Pair>> graphs{
      {{0, 1}, {1, 0}, {1, 2}, {2, 1}, {2, 3}, {3, 2}},
      {{0, 1}, {1, 2}, {2, 3}, {3, 0}},
      {{0, 1}, {1, 0}, {0, 2}, {2, 0}, {0, 3}, {3, 0}},
  };
  const std::array<std::uint32_t, 3> diameters{3, 3, 2};
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    const PortGraph graph(Digraph(4, graphs[i]));
    EXPECT_EQ(graph.diameter(), diameters[i]);
    const FloodMax protocol({.diameter = graph.diameter()}, 4);
    const StreamName name{.seed = i};
    network::All wakeup(4, name);
    network::Synchronous<FloodMax> network(protocol, 4, name, wakeup, {.graph = &graph});
    const TrialResult result = network.run(always);
    EXPECT_EQ(result.ending, Ending::converged);
    EXPECT_EQ(result.interactions, Interactions(graph.arcs() * diameters[i]));
    EXPECT_EQ(result.network->rounds, diameters[i]);
  }
}

// ---- implicit election

struct Implicit {
  double elected_one = 0;
  std::vector<double> messages{};
};

Implicit run_sublinear(const SublinearSync::Parameters& parameters, NodeCount n,
                       std::uint64_t trials) {
  Implicit outcome;
  const SublinearSync protocol(parameters, n);
  for (std::uint64_t trial = 0; trial < trials; ++trial) {
    const StreamName name{.seed = 9, .trial = trial};
    network::All wakeup(n, name);
    network::Synchronous<SublinearSync> network(protocol, n, name, wakeup,
                                                {.has_identifiers = false, .counts_edges = false});
    const TrialResult result = network.run(always);
    EXPECT_EQ(result.ending == Ending::converged, result.network->elected == 1);
    outcome.elected_one += result.ending == Ending::converged ? 1.0 : 0.0;
    outcome.messages.push_back(result.interactions.as_double());
  }
  outcome.elected_one /= static_cast<double>(trials);
  return outcome;
}

double off(double share, double exact, double trials) {
  return std::abs(share - exact) / std::sqrt(exact * (1 - exact) / trials);
}

// Requests, and one notice per referee reached.
TEST(SublinearSync, SendsAsManyMessagesInTheMeanAsTheFormulaSays) {
  const double p = 2 * std::log(100.0) / 100;
  const double m = 44;
  const double mean = 100 * p * m + 100 * (1 - std::pow(1 - p * m / 99, 99));
  EXPECT_NEAR(mean, 503.66, 0.01);
  const Implicit outcome = run_sublinear({}, 100, 1500);
  EXPECT_LT(off(outcome.messages, mean), far_off);
  EXPECT_GT(off(outcome.messages, 1.05 * mean), far_off);
  EXPECT_GT(outcome.elected_one, 0.99);
}

TEST(SublinearSync, FailsAsOftenAsItMustWithFewReferees) {
  constexpr std::uint64_t trials = 1500;
  struct Case {
    std::uint64_t referees;
    double exact;
  };
  for (const auto& [referees, exact] :
       {Case{7, 0.147047}, Case{11, 0.673297}, Case{16, 0.950194}}) {
    const double share = run_sublinear({.referees = referees}, 100, trials).elected_one;
    EXPECT_LT(off(share, exact, trials), far_off) << referees;
  }
}

// All sets of candidates, all orders of their ranks, all choices of two referees among the three
// others: four nodes one by one.
struct FourNodes {
  double elected_one = 0;
  double messages = 0;
};

FourNodes four_nodes(double p) {
  constexpr std::array<std::array<unsigned, 2>, 3> pairs{{{0, 1}, {0, 2}, {1, 2}}};
  FourNodes sum;
  for (unsigned candidates = 0; candidates < 16; ++candidates) {
    std::vector<unsigned> order;
    for (unsigned i = 0; i < 4; ++i) {
      if ((candidates >> i & 1) != 0) order.push_back(i);
    }
    const auto count = static_cast<double>(order.size());
    double cases = 0;
    FourNodes part;
    do {  // order.back() has the highest rank
      for (unsigned choice = 0; choice < std::pow(3, count); ++choice) {
        std::array<int, 4> best{-1, -1, -1, -1};
        unsigned digits = choice;
        std::array<std::array<unsigned, 2>, 4> asked{};
        for (std::size_t i = 0; i < order.size(); ++i, digits /= 3) {
          for (unsigned which = 0; which < 2; ++which) {
            const unsigned other = pairs[digits % 3][which];
            asked[i][which] = other < order[i] ? other : other + 1;
            best[asked[i][which]] = static_cast<int>(i);
          }
        }
        unsigned elected = 0;
        for (std::size_t i = 0; i < order.size(); ++i) {
          const auto is_mine = [&](unsigned node) { return best[node] == static_cast<int>(i); };
          elected += is_mine(asked[i][0]) && is_mine(asked[i][1]) ? 1 : 0;
        }
        part.elected_one += elected == 1 ? 1 : 0;
        part.messages += 2 * count;
        for (const int each : best) part.messages += each >= 0 ? 1 : 0;
        ++cases;
      }
    } while (std::next_permutation(order.begin(), order.end()));
    const double weight = std::pow(p, count) * std::pow(1 - p, 4 - count) / cases;
    sum.elected_one += weight * part.elected_one;
    sum.messages += weight * part.messages;
  }
  return sum;
}

TEST(SublinearSync, DoesOnFourNodesWhatAllCasesTogetherSay) {
  constexpr std::uint64_t trials = 20'000;
  const Implicit outcome =
      run_sublinear({.referees = 2, .ranks = std::uint64_t{1} << 50}, 4, trials);
  const FourNodes exact = four_nodes(2 * std::log(4.0) / 4);
  EXPECT_LT(off(outcome.elected_one, exact.elected_one, trials), far_off);
  EXPECT_LT(off(outcome.messages, exact.messages), far_off);
  EXPECT_GT(off(outcome.messages, four_nodes(0.66).messages), far_off);
}

// ---- graphs

TEST(PortGraph, NumbersPortsThatLeaveFirst) {
  const PortGraph graph(Digraph(4, {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {3, 0}, {0, 1}}));
  EXPECT_EQ(graph.leaving(0), 2u);
  EXPECT_EQ(graph.neighbour(0, 0), 1u);
  EXPECT_EQ(graph.neighbour(0, 1), 3u);
  EXPECT_EQ(graph.port(0, 3), 1u);
  EXPECT_EQ(graph.port(0, 2), 2u);  // only leads in
  EXPECT_EQ(graph.leaving(1), 1u);
  EXPECT_EQ(graph.port(1, 0), 1u);
  EXPECT_EQ(graph.arcs(), 5u);
}

TEST(Shuffle, MakesEveryOrderEquallyLikely) {
  std::vector<double> observed(24);
  for (std::uint64_t trial = 0; trial < 24'000; ++trial) {
    const network::Shuffle shuffle(4, StreamName{.seed = 2, .trial = trial});
    std::size_t number = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      std::size_t smaller = 0;
      for (std::size_t j = i + 1; j < 4; ++j) smaller += shuffle(j) < shuffle(i) ? 1 : 0;
      number = number * (4 - i) + smaller;
    }
    ++observed[number];
  }
  EXPECT_GT(chi_square(observed, std::vector<double>(24, 1000.0)).p_value, 1e-6);
}

}  // namespace
}  // namespace conclave::tests
