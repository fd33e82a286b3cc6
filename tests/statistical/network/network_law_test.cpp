// Laws of the network engine against closed forms, and of two port mappings against each other.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/distinct_draws.hpp"
#include "conclave/base/random.hpp"
#include "conclave/base/statistics.hpp"
#include "conclave/network/asynchronous.hpp"
#include "conclave/network/delays.hpp"
#include "conclave/network/synchronous.hpp"
#include "conclave/network/wakeups.hpp"
#include "conclave/protocols/message/kmpp_async.hpp"
#include "conclave/protocols/message/kmpp_sync.hpp"

#include "tests/mutants/broken_networks.hpp"

namespace conclave::tests {
namespace {

using network::AdversarialTransit;
using network::Ticks;
using protocols::KmppAsync;
using protocols::KmppSync;

constexpr double rejection = 1e-6;
const auto always = [](Interactions) { return true; };

// Sets of 3 ports out of 6, as bit masks: all 20 are equally likely.
template <class Draws>
double fit_of_sets(Draws draws) {
  Stream stream({.seed = 11});
  std::map<unsigned, double> counts;
  constexpr int trials = 40'000;
  for (int i = 0; i < trials; ++i) {
    unsigned set = 0;
    for (const std::uint32_t port : draws(3, 6, stream)) set |= 1u << port;
    ++counts[set];
  }
  std::vector<double> observed;
  for (unsigned set = 0; set < 64; ++set) {
    if (__builtin_popcount(set) == 3) observed.push_back(counts[set]);
  }
  double other = trials;
  for (const double count : observed) other -= count;
  observed.push_back(other + 10);
  std::vector<double> expected(20, trials / 20.0);
  expected.push_back(10);
  return chi_square(observed, expected).p_value;
}

TEST(RefereeLaw, EverySetOfPortsIsEquallyLikely) {
  EXPECT_GT(fit_of_sets(DistinctDraws{}), rejection);
  EXPECT_LT(fit_of_sets(mutants::RepeatingDraws{}), rejection);
}

// The number of rounds of a lone node is decided by its coins: n^(-2/3), n^(-1/3), 1.
double fit_of_rounds(NodeCount n, double exponent) {
  constexpr std::uint64_t trials = 6000;
  std::array<double, 3> observed{};
  const KmppSync protocol({}, n);
  for (std::uint64_t trial = 0; trial < trials; ++trial) {
    const StreamName name{.seed = 3, .trial = trial};
    network::One wakeup(n, name);
    network::Synchronous<KmppSync> network(protocol, n, name, wakeup, {.counts_edges = false});
    ++observed[*network.run(always).network->rounds / 3 - 1];
  }
  const double first = std::pow(static_cast<double>(n), -2 * exponent);
  const double second = (1 - first) * std::pow(static_cast<double>(n), -exponent);
  const std::array<double, 3> expected{trials * first, trials * second,
                                       trials * (1 - first - second)};
  return chi_square(observed, expected).p_value;
}

TEST(KmppSyncLaw, RoundsOfALoneNodeFollowItsThreeCoins) {
  for (const NodeCount n : {2u, 8u, 50u}) {
    EXPECT_GT(fit_of_rounds(n, 1.0 / 3), rejection) << n;
    EXPECT_LT(fit_of_rounds(n, 1.0 / 2), rejection) << n;
  }
}

struct Nothing final : network::NetworkView {
  NodeCount n() const override { return 100; }
  Ticks now() const override { return 12345; }
  NodeView node(network::NodeIndex) const override { return {}; }
  NodeCount asleep() const override { return 100; }
  std::optional<network::NodeIndex> front_runner() const override { return std::nullopt; }
};

std::vector<double> delays_of(network::DelayAdversary& adversary, std::size_t count) {
  std::vector<double> delays;
  for (std::uint32_t i = 0; i < count; ++i) {
    delays.push_back(network::in_units(adversary.delay({i % 50, 50 + i, "REQUEST"}, Nothing{})));
  }
  std::ranges::sort(delays);
  return delays;
}

double truncated_exponential(double x) { return (1 - std::exp(-4 * x)) / (1 - std::exp(-4.0)); }

TEST(DelayLaw, UniformExponentialAndBurstHaveTheirDistributions) {
  constexpr StreamName name{.seed = 5};
  network::Uniform uniform(100, name);
  network::Exponential exponential(100, name);
  network::Burst burst(100, name);
  const auto identity = [](double x) { return x; };
  const auto uniform_delays = delays_of(uniform, 20'000);
  const auto exponential_delays = delays_of(exponential, 20'000);
  EXPECT_GT(kolmogorov_smirnov(uniform_delays, identity).p_value, rejection);
  EXPECT_GT(kolmogorov_smirnov(exponential_delays, truncated_exponential).p_value, rejection);
  EXPECT_GT(kolmogorov_smirnov(delays_of(burst, 20'000), identity).p_value, rejection);
  EXPECT_LT(kolmogorov_smirnov(exponential_delays, identity).p_value, rejection);
  EXPECT_LT(kolmogorov_smirnov(uniform_delays, truncated_exponential).p_value, rejection);
}

// The same algorithm with ports in a random order at every node.
struct NotPortBlind : KmppAsync {
  using KmppAsync::KmppAsync;
  static constexpr bool is_port_blind = false;
};
static_assert(!PortBlind<NotPortBlind>);

// DECIDE messages among 100 nodes: their number tells how the sets of referees overlap.
template <class P>
std::vector<double> disputes(std::uint64_t seed) {
  constexpr NodeCount n = 100;
  std::vector<double> counts;
  const P protocol({}, n);
  for (std::uint64_t trial = 0; trial < 600; ++trial) {
    const StreamName name{.seed = seed, .trial = trial};
    network::Uniform delay(n, name);
    network::All wakeup(n, name);
    network::Asynchronous<P, AdversarialTransit> network(protocol, n, name, &delay, wakeup,
                                                         {.counts_edges = false});
    counts.push_back(static_cast<double>(network.run(always).network->by_kind[3].messages));
  }
  std::ranges::sort(counts);
  return counts;
}

TEST(PortLaw, TheSimplestMappingHasTheLawOfARandomOne) {
  const auto scattered = disputes<NotPortBlind>(7);
  EXPECT_GT(kolmogorov_smirnov(disputes<KmppAsync>(8), scattered).p_value, rejection);
  EXPECT_LT(kolmogorov_smirnov(disputes<mutants::PrefersFirstPorts>(8), scattered).p_value,
            rejection);
}

}  // namespace
}  // namespace conclave::tests
