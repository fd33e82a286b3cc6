// The rivals by messages against a second implementation: equal rows where nothing is left to
// chance, equal laws of messages and time elsewhere, with unit delays (one queue of messages) and
// with random ones (the other). Every comparison must also reject a network of another size.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/random.hpp"
#include "conclave/base/statistics.hpp"
#include "conclave/model/port_graph.hpp"
#include "conclave/network/asynchronous.hpp"
#include "conclave/network/delays.hpp"
#include "conclave/network/synchronous.hpp"
#include "conclave/network/wakeups.hpp"
#include "conclave/protocols/message/afek_gafni_async.hpp"
#include "conclave/protocols/message/afek_gafni_sync.hpp"
#include "conclave/protocols/message/chang_roberts.hpp"
#include "conclave/protocols/message/flood_max.hpp"
#include "conclave/protocols/message/flooding.hpp"
#include "conclave/protocols/message/hirschberg_sinclair.hpp"
#include "conclave/protocols/message/itai_rodeh.hpp"
#include "conclave/protocols/message/peterson.hpp"
#include "conclave/protocols/message/sublinear_sync.hpp"

#include "tests/support/naive_messages.hpp"
#include "tests/support/ring_network.hpp"
#include "tests/support/two_samples.hpp"

namespace conclave::tests {
namespace {

using by_mail::Sent;
using network::AdversarialTransit;
using network::ConstantTransit;

const auto always = [](Interactions) { return true; };
constexpr double rejection = 1e-6;
constexpr std::uint64_t sampled = 1000;
enum class Delay : std::uint8_t { unit, uniform };

// A trial by its number.
using Trial = std::function<Sent(std::uint64_t)>;

Sent sent_in(const TrialResult& result) {
  const auto messages = result.interactions.as_uint64().value_or(0);
  const NetworkOutcome& outcome = *result.network;
  return {messages, outcome.rounds ? static_cast<double>(*outcome.rounds) : outcome.time,
          outcome.elected};
}

// One trial of an engine without rounds.
template <class P, class Wakeup = network::All>
Sent by_engine(const P& protocol, NodeCount n, const PortGraph* graph, Delay delay,
               std::uint64_t trial) {
  const StreamName name{.seed = 11, .trial = trial};
  const bool has_identifiers = !Anonymous<P>;
  const network::NetworkOptions options{
      .has_identifiers = has_identifiers, .counts_edges = false, .graph = graph};
  Wakeup wakeup(n, name);
  const auto run = [](auto&& network) {
    const TrialResult result = network.run(always);
    EXPECT_EQ(result.ending, Ending::converged) << P::info.name;
    return sent_in(result);
  };
  if (delay == Delay::unit) {
    return run(
        network::Asynchronous<P, ConstantTransit>(protocol, n, name, nullptr, wakeup, options));
  }
  network::Uniform uniform(n, name);
  return run(
      network::Asynchronous<P, AdversarialTransit>(protocol, n, name, &uniform, wakeup, options));
}

// One trial of the second implementation: `run(coins, delays)`, without delays for units.
template <class Run>
Trial by_hand(Delay delay, Run run) {
  return [=](std::uint64_t trial) {
    Stream coins({.seed = 12, .trial = trial});
    Stream delays({.seed = 13, .trial = trial});
    return run(coins, delay == Delay::unit ? nullptr : &delays);
  };
}

struct Sample {
  std::vector<double> messages;
  std::vector<double> times;
  std::vector<double> elected = std::vector<double>(8);  // how often 0, 1, 2, ...
};

Sample sample_of(const Trial& trial) {
  Sample sample;
  for (std::uint64_t number = 0; number < sampled; ++number) {
    const Sent sent = trial(number);
    sample.messages.push_back(static_cast<double>(sent.messages));
    sample.times.push_back(sent.time);
    ++sample.elected[std::min<std::size_t>(sent.elected, 7)];
  }
  std::ranges::sort(sample.messages);
  std::ranges::sort(sample.times);
  return sample;
}

double worst_fit(const Sample& a, const Sample& b) {
  return std::min({kolmogorov_smirnov(a.messages, b.messages).p_value,
                   kolmogorov_smirnov(a.times, b.times).p_value,
                   chi_square_two_sample(a.elected, b.elected).p_value});
}

// `naive(n)` is a trial of the second implementation with n nodes; `n + 1` must be told apart.
template <class Naive>
void expect_law(const Trial& engine, Naive naive, std::size_t n, std::string_view name) {
  const Sample measured = sample_of(engine);
  EXPECT_GT(worst_fit(measured, sample_of(naive(n))), rejection) << name << " n = " << n;
  EXPECT_LT(worst_fit(measured, sample_of(naive(n + 1))), rejection) << name << " n = " << n;
}

template <class P, class Naive>
void expect_law_on_ring(std::uint32_t n, Naive naive) {
  const PortGraph graph = ring(n, network_of<P> == Topology::undirected_ring);
  const P protocol({}, n);
  for (const Delay delay : {Delay::unit, Delay::uniform}) {
    expect_law([&](std::uint64_t trial) { return by_engine(protocol, n, &graph, delay, trial); },
               [&](std::size_t size) {
                 return by_hand(delay, [size, naive](Stream& coins, Stream* delays) {
                   return naive(by_mail::shuffled(size, coins), delays);
                 });
               },
               n, P::info.name);
  }
}

const auto both_ways = [](const by_mail::Identifiers& ids, Stream* delays) {
  return by_mail::hirschberg_sinclair(ids, delays);
};

TEST(MessageLaws, OfRingElectionsAreThoseOfASecondImplementation) {
  expect_law_on_ring<protocols::ChangRoberts>(12, by_mail::chang_roberts);
  expect_law_on_ring<protocols::Peterson>(12, by_mail::peterson);
  expect_law_on_ring<protocols::HirschbergSinclair>(11, both_ways);
}

// With random delays the law tells the first probe that comes home from the second.
TEST(MessageLaws, OfHirschbergAndSinclairTellTheReadingsApart) {
  constexpr std::uint32_t n = 11;
  const PortGraph graph = ring(n, true);
  const protocols::HirschbergSinclair protocol({}, n);
  const Sample measured = sample_of(
      [&](std::uint64_t trial) { return by_engine(protocol, n, &graph, Delay::uniform, trial); });
  const Sample other = sample_of(by_hand(Delay::uniform, [](Stream& coins, Stream* delays) {
    return by_mail::hirschberg_sinclair(by_mail::shuffled(n, coins), delays, 1);
  }));
  EXPECT_LT(worst_fit(measured, other), rejection);
}

TEST(MessageLaws, OfTheAnonymousRingAreThoseOfASecondImplementation) {
  constexpr std::uint32_t n = 9;
  const PortGraph graph = ring(n, false);
  for (const std::size_t identifiers : {std::size_t{2}, std::size_t{5}}) {
    const protocols::ItaiRodeh protocol({.identifiers = identifiers}, n);
    for (const Delay delay : {Delay::unit, Delay::uniform}) {
      expect_law([&](std::uint64_t trial) { return by_engine(protocol, n, &graph, delay, trial); },
                 [&](std::size_t size) {
                   return by_hand(delay, [=](Stream& coins, Stream* delays) {
                     return by_mail::itai_rodeh(size, identifiers, coins, delays);
                   });
                 },
                 n, "itai-rodeh");
    }
  }
}

// One node is woken: how soon all have entered is the law of first passage with random delays.
TEST(MessageLaws, OfFloodingAreThoseOfASecondImplementation) {
  constexpr NodeCount n = 10;
  const protocols::Flooding protocol({}, n);
  for (const Delay delay : {Delay::unit, Delay::uniform}) {
    expect_law(
        [&](std::uint64_t trial) {
          return by_engine<protocols::Flooding, network::One>(protocol, n, nullptr, delay, trial);
        },
        [&](std::size_t size) {
          return by_hand(
              delay, [size](Stream&, Stream* delays) { return by_mail::flooding(size, delays); });
        },
        n, "flooding");
  }
}

TEST(MessageLaws, OfAfekAndGafniAreThoseOfASecondImplementation) {
  constexpr NodeCount n = 12;
  const protocols::AfekGafniAsync protocol({}, n);
  for (const Delay delay : {Delay::unit, Delay::uniform}) {
    expect_law([&](std::uint64_t trial) { return by_engine(protocol, n, nullptr, delay, trial); },
               [&](std::size_t size) {
                 return by_hand(delay, [size](Stream& coins, Stream* delays) {
                   return by_mail::AfekGafni(size, coins, delays).run();
                 });
               },
               n, "afek-gafni-async");
  }
}

// One trial of the engine with rounds.
template <class P, class Wakeup = network::All>
Sent in_rounds(const P& protocol, NodeCount n, std::uint64_t trial) {
  const StreamName name{.seed = 14, .trial = trial};
  const bool has_identifiers = !Anonymous<P>;
  Wakeup wakeup(n, name);
  network::Synchronous<P> network(protocol, n, name, wakeup,
                                  {.has_identifiers = has_identifiers, .counts_edges = false});
  return sent_in(network.run(always));
}

TEST(MessageLaws, OfAfekAndGafniInRoundsAreThoseOfASecondImplementation) {
  for (const std::size_t c : {std::size_t{2}, std::size_t{3}}) {
    constexpr NodeCount n = 20;
    const protocols::AfekGafniSync protocol({.c = c}, n);
    expect_law([&](std::uint64_t trial) { return in_rounds(protocol, n, trial); },
               [&](std::size_t size) {
                 return by_hand(Delay::unit, [size, c](Stream& coins, Stream*) {
                   return by_mail::afek_gafni_in_rounds(size, c, coins);
                 });
               },
               n, "afek-gafni-sync");
  }
}

// Who is woken alone asks every other node, is accepted by all, and tells them.
TEST(AfekGafni, ALoneCandidateSendsThreeMessagesPerOtherNode) {
  using protocols::AfekGafniAsync;
  using protocols::AfekGafniSync;
  for (const NodeCount n : {2u, 3u, 10u, 64u}) {
    const AfekGafniAsync one_by_one({}, n);
    const AfekGafniSync doubling({}, n);
    const Sent by_delays =
        by_engine<AfekGafniAsync, network::One>(one_by_one, n, nullptr, Delay::uniform, n);
    const Sent by_rounds = in_rounds<AfekGafniSync, network::One>(doubling, n, n);
    EXPECT_EQ(by_delays.messages, 3 * (n - 1)) << n;
    EXPECT_EQ(by_rounds.messages, 3 * (n - 1)) << n;
    EXPECT_EQ(by_rounds.time, 2 * std::ceil(std::log2(static_cast<double>(n))) + 1) << n;
  }
}

// Few referees, so that often nobody or two are elected.
TEST(MessageLaws, OfImplicitElectionAreThoseOfASecondImplementation) {
  constexpr NodeCount n = 40;
  constexpr std::size_t referees = 7;
  const protocols::SublinearSync protocol({.referees = referees}, n);
  expect_law(
      [&](std::uint64_t trial) {
        Sent sent = in_rounds(protocol, n, trial);
        sent.time = 0;  // always two rounds
        return sent;
      },
      [&](std::size_t size) {
        const double chance = 2 * std::log(40.0) / 40;
        const std::size_t asked = size == n ? referees : referees + 1;
        return by_hand(Delay::unit, [=](Stream& coins, Stream*) {
          return by_mail::sublinear(size, chance, asked, coins);
        });
      },
      n, "sublinear-sync");
}

// A directed ring with some arcs more: connected, and different in both directions.
by_mail::Arcs some_graph(std::size_t n, std::size_t more, Stream& coins) {
  by_mail::Arcs arcs;
  for (std::size_t i = 0; i < n; ++i) arcs.emplace_back(i, (i + 1) % n);
  while (arcs.size() < n + more) {
    const std::pair<std::size_t, std::size_t> arc{coins.below64(n), coins.below64(n)};
    if (arc.first != arc.second && std::ranges::find(arcs, arc) == arcs.end()) arcs.push_back(arc);
  }
  return arcs;
}

PortGraph port_graph(std::size_t n, const by_mail::Arcs& arcs) {
  std::vector<Digraph::Pair> pairs;
  for (const auto& [from, to] : arcs) {
    pairs.emplace_back(static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to));
  }
  return PortGraph(Digraph(static_cast<std::uint32_t>(n), pairs));
}

// The same rows, message by message: only the order of the identifiers is left to chance.
TEST(MessageRows, OfFloodingAGraphAreThoseOfASecondImplementation) {
  for (std::uint64_t trial = 0; trial < 60; ++trial) {
    Stream coins({.seed = 15, .trial = trial});
    const std::size_t n = 3 + coins.below64(12);
    const by_mail::Arcs arcs = some_graph(n, coins.below64(n), coins);
    const PortGraph graph = port_graph(n, arcs);
    for (const auto sending : {protocols::FloodSending::always, protocols::FloodSending::news}) {
      const std::uint64_t rounds = graph.diameter() + trial % 3;
      const protocols::FloodMax protocol({.diameter = rounds, .sending = sending}, n);
      const StreamName name{.seed = 16, .trial = trial};
      network::All wakeup(n, name);
      network::Synchronous<protocols::FloodMax> network(protocol, n, name, wakeup,
                                                        {.graph = &graph});
      const TrialResult result = network.run(always);
      by_mail::Identifiers known;
      by_mail::Identifiers heard;
      for (std::uint32_t i = 0; i < n; ++i) {
        known.push_back(network.state().state(i).id);
        heard.push_back(network.state().state(i).highest);
      }
      const bool news_only = sending == protocols::FloodSending::news;
      const Sent expected = by_mail::flood_max(arcs, known, rounds, news_only);
      const Sent sent = sent_in(result);
      EXPECT_EQ(sent.messages, expected.messages) << trial << ' ' << news_only;
      EXPECT_EQ(sent.time, expected.time) << trial << ' ' << news_only;
      EXPECT_EQ(heard, known) << trial << ' ' << news_only;
      EXPECT_EQ(result.network->elected, 1u);
    }
  }
}

}  // namespace
}  // namespace conclave::tests
