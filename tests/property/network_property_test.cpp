// Properties of every run of a network, whoever the adversary is, and promises of kmpp.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/random.hpp"
#include "conclave/network/adversary.hpp"
#include "conclave/network/asynchronous.hpp"
#include "conclave/network/edge_counts.hpp"
#include "conclave/network/synchronous.hpp"
#include "conclave/network/watcher.hpp"
#include "conclave/protocols/message/kmpp_async.hpp"
#include "conclave/protocols/message/kmpp_sync.hpp"

#include "tests/mutants/broken_networks.hpp"

namespace conclave::tests {
namespace {

using network::AdversarialTransit;
using network::ConstantTransit;
using network::EdgeCounts;
using network::NetworkOptions;
using network::NodeIndex;
using network::Parcel;
using network::Ticks;
using protocols::KmppAsync;
using protocols::KmppReading;
using protocols::KmppSync;
using protocols::KmppSyncReading;

#ifdef NDEBUG
constexpr std::uint64_t thoroughness = 10;
#else
constexpr std::uint64_t thoroughness = 1;
#endif

const auto always = [](Interactions) { return true; };

template <class Adversary>
const network::AdversaryEntry<Adversary>& named(
    std::span<const network::AdversaryEntry<Adversary>> all, std::string_view name) {
  return *std::ranges::find_if(all, [&](const auto& each) { return each.info.name == name; });
}

struct Case {
  NodeCount n = 10;
  std::string_view delay = "uniform";
  std::string_view wakeup = "all";
  std::uint64_t trial = 0;
  NetworkOptions options{};
  KmppReading reading = KmppReading::corrected;

  std::string text() const {
    return "n=" + std::to_string(n) + " delay=" + std::string(delay) +
           " wakeup=" + std::string(wakeup) + " trial=" + std::to_string(trial);
  }
};

template <template <class> class Transit, class P = KmppAsync>
TrialResult run(const Case& c) {
  const StreamName name{.seed = 1, .trial = c.trial};
  const auto delay = named(network::delays(), c.delay).make(c.n, name);
  const auto wakeup = named(network::wakeups(), c.wakeup).make(c.n, name);
  const P protocol({c.reading}, c.n);
  network::Asynchronous<P, Transit> network(protocol, c.n, name, delay.get(), *wakeup, c.options);
  return network.run(always);
}

TrialResult run_in_rounds(NodeCount n, std::string_view wakeup_name, std::uint64_t trial,
                          KmppSyncReading reading = KmppSyncReading::corrected,
                          const NetworkOptions& options = {.counts_edges = false}) {
  const StreamName name{.seed = 1, .trial = trial};
  const auto wakeup = named(network::wakeups(), wakeup_name).make(n, name);
  const KmppSync protocol({reading}, n);
  network::Synchronous<KmppSync> network(protocol, n, name, *wakeup, options);
  return network.run(always);
}

void expect_one_leader_known_to_all(const TrialResult& result, NodeCount n,
                                    const std::string& what) {
  EXPECT_EQ(result.ending, Ending::converged) << what;
  EXPECT_EQ(result.network->elected, 1u) << what;
  EXPECT_EQ(result.network->informed, n) << what;
}

void expect_election(NodeCount n, std::uint64_t trials, bool all_pairs) {
  for (const auto& delay : network::delays()) {
    for (const auto& wakeup : network::wakeups()) {
      const bool is_plain = delay.info.name == "unit" || wakeup.info.name == "all";
      for (std::uint64_t trial = 0; (all_pairs || is_plain) && trial < trials; ++trial) {
        const Case c{.n = n,
                     .delay = delay.info.name,
                     .wakeup = wakeup.info.name,
                     .trial = trial,
                     .options = {.counts_edges = false}};
        expect_one_leader_known_to_all(run<AdversarialTransit>(c), n, c.text());
      }
    }
  }
}

TEST(KmppAsync, ElectsOneLeaderKnownToAllAgainstEveryAdversary) {
  expect_election(1, 1, true);
  expect_election(2, 2 * thoroughness, true);
  expect_election(3, 2 * thoroughness, true);
  expect_election(10, 2 * thoroughness, true);
  expect_election(100, thoroughness, true);
  expect_election(1000, 1, true);
}

TEST(KmppAsync, ElectsOneLeaderKnownToAllAmongTenThousand) {
  expect_election(10'000, 1, thoroughness > 1);
}

TEST(KmppAsync, SendsAnExactNumberOfMessagesWhenOneNodeIsWoken) {
  for (const NodeCount n : {2u, 3u, 10u, 20u, 21u, 100u, 1000u}) {
    const KmppAsync protocol({}, n);
    std::uint64_t expected = 3 * (n - 1);
    for (unsigned phase = 1; phase < protocol.last_phase(); ++phase) {
      expected += std::uint64_t{2} * protocol.referees(phase);
    }
    for (const auto& delay : network::delays()) {
      const Case c{.n = n, .delay = delay.info.name, .wakeup = "one"};
      const TrialResult result = run<AdversarialTransit>(c);
      EXPECT_EQ(result.interactions, Interactions(expected)) << c.text();
      if (c.delay != "unit") continue;
      EXPECT_EQ(result.network->time, 2.0 * protocol.last_phase()) << c.text();
    }
  }
}

TEST(KmppAsync, HasThePhasesAndRefereesOfThePaper) {
  const std::map<NodeCount, unsigned> phases{{1, 1},   {2, 3},      {3, 4},      {4, 4},
                                             {16, 5},  {1000, 9},   {65536, 12}, {1'000'000, 15},
                                             {100, 7}, {10'000, 11}};
  for (const auto& [n, last] : phases) EXPECT_EQ(KmppAsync({}, n).last_phase(), last) << n;
  const KmppAsync thousand({}, 1000);
  EXPECT_EQ(thousand.referees(1), 20u);
  EXPECT_EQ(thousand.referees(4), 160u);
  EXPECT_EQ(thousand.referees(5), 200u);  // ceil(sqrt(4 * 1000 * log2 1000)) = ceil(199.65)
  EXPECT_EQ(thousand.referees(9), 999u);
  EXPECT_EQ(KmppAsync({}, 10).referees(1), 9u);
}

TEST(KmppAsync, NeedsAboutFiftyMessagesPerNodeAndFourKTimeWhenAllAreAwake) {
  for (const NodeCount n : {100u, 1000u, 10'000u}) {
    const Case c{.n = n, .options = {.counts_edges = false}};
    const TrialResult result = run<AdversarialTransit>(c);
    const double per_node = result.interactions.as_double() / static_cast<double>(n);
    EXPECT_GT(per_node, 46) << n;
    EXPECT_LT(per_node, 53) << n;
    EXPECT_LT(result.network->time, 4.0 * KmppAsync({}, n).last_phase()) << n;
  }
}

// Everything that is sent and that happens to nodes, checked step by step.
class Inspector final : public network::Watcher {
 public:
  void sent(Ticks sent, Ticks arrives, const Parcel& parcel) override {
    ++messages;
    EXPECT_NE(parcel.from, parcel.to);
    EXPECT_GE(sent, now_);
    now_ = sent;
    is_within_a_unit = is_within_a_unit && arrives > sent && arrives - sent <= network::unit;
    Ticks& last = arrivals_[{parcel.from, parcel.to}];
    is_fifo = is_fifo && arrives >= last;
    last = arrives;
    const auto edge = std::minmax(parcel.from, parcel.to);
    busiest = std::max(busiest, ++edges_[edge]);
    last_sending = sent;
  }
  void changed(Ticks now, NodeIndex node, const NodeView& before, const NodeView& after) override {
    EXPECT_GE(now, now_);
    const auto known = views_.find(node);
    EXPECT_TRUE(known == views_.end() ? before.standing == Standing::asleep
                                      : known->second == before);
    EXPECT_FALSE(before.is_informed && !after.is_informed);
    EXPECT_FALSE(before.standing == Standing::retired && after.standing != Standing::retired);
    EXPECT_GE(after.phase, before.phase);
    views_[node] = after;
  }

  std::uint64_t messages = 0;
  std::uint64_t busiest = 0;
  Ticks last_sending = 0;
  bool is_fifo = true;
  bool is_within_a_unit = true;

 private:
  Ticks now_ = 0;
  std::map<std::pair<NodeIndex, NodeIndex>, Ticks> arrivals_;
  std::map<std::pair<NodeIndex, NodeIndex>, std::uint64_t> edges_;
  std::map<NodeIndex, NodeView> views_;
};

TEST(Network, KeepsEdgesFifoAndDelaysWithinAUnitAndCountsEveryMessage) {
  for (const auto& delay : network::delays()) {
    for (const auto& wakeup : network::wakeups()) {
      Inspector inspector;
      const Case c{.n = 60,
                   .delay = delay.info.name,
                   .wakeup = wakeup.info.name,
                   .options = {.watcher = &inspector}};
      const TrialResult result = run<AdversarialTransit>(c);
      EXPECT_TRUE(inspector.is_fifo) << c.text();
      EXPECT_TRUE(inspector.is_within_a_unit) << c.text();
      EXPECT_EQ(result.interactions, Interactions(inspector.messages)) << c.text();
      EXPECT_EQ(result.network->most_on_an_edge, inspector.busiest) << c.text();
      EXPECT_GE(network::in_units(inspector.last_sending), result.network->time) << c.text();
      std::uint64_t by_kind = 0;
      for (const KindCount& each : result.network->by_kind) by_kind += each.messages;
      EXPECT_EQ(by_kind, inspector.messages);
    }
  }
}

TEST(Network, TheInspectorSeesMessagesThatOvertakeEachOther) {
  Inspector inspector;
  run<mutants::OvertakingTransit>(
      {.n = 60, .options = {.watcher = &inspector}, .reading = KmppReading::by_rank});
  EXPECT_FALSE(inspector.is_fifo);
}

bool are_equal(const TrialResult& left, const TrialResult& right) {
  for (std::size_t kind = 0; kind < left.network->by_kind.size(); ++kind) {
    if (left.network->by_kind[kind].messages != right.network->by_kind[kind].messages) return false;
  }
  return left.interactions == right.interactions && left.network->time == right.network->time &&
         left.network->most_on_an_edge == right.network->most_on_an_edge;
}

TEST(Network, GivesTheSameRunWithAStreamOfUnitDelaysAndWithACalendarOfThem) {
  for (const auto& wakeup : network::wakeups()) {
    for (const NodeCount n : {2u, 7u, 50u, 700u}) {
      const Case c{.n = n, .delay = "unit", .wakeup = wakeup.info.name};
      EXPECT_TRUE(are_equal(run<ConstantTransit>(c), run<AdversarialTransit>(c))) << c.text();
    }
  }
}

TEST(Network, GivesTheSameRunWhetherEdgesAreCountedOrWatchedOrNot) {
  for (const NodeCount n : {50u, 700u}) {
    Inspector inspector;
    const Case counted{.n = n, .delay = "unit", .options = {.watcher = &inspector}};
    const Case plain{.n = n, .delay = "unit", .options = {.counts_edges = false}};
    const TrialResult first = run<ConstantTransit>(counted);
    const TrialResult second = run<ConstantTransit>(plain);
    EXPECT_EQ(first.interactions, second.interactions);
    EXPECT_EQ(first.network->time, second.network->time);
    EXPECT_FALSE(second.network->most_on_an_edge);
  }
}

TEST(Network, GivesTheSameRunWithATableOfEdgesThatOthersHaveUsed) {
  EdgeCounts edges;
  for (const NodeCount n : {700u, 3000u, 3000u, 50u, 700u}) {
    for (std::uint64_t trial = 0; trial < 3; ++trial) {
      const Case fresh{.n = n, .trial = trial};
      Case again = fresh;
      again.options.edges = &edges;
      EXPECT_TRUE(are_equal(run<AdversarialTransit>(fresh), run<AdversarialTransit>(again)))
          << fresh.text();
      EXPECT_TRUE(are_equal(run<ConstantTransit>(fresh), run<ConstantTransit>(again)))
          << fresh.text();
    }
  }
}

// Referees that are asked again by their chosen say nothing: everybody waits for ever.
TEST(KmppErrata, AsPrintedNobodyIsEverElected) {
  for (const NodeCount n : {2u, 3u, 10u, 100u}) {
    const TrialResult result =
        run<ConstantTransit>({.n = n, .delay = "unit", .reading = KmppReading::printed});
    EXPECT_EQ(result.network->elected, 0u) << n;
    EXPECT_EQ(result.ending, Ending::hopeless) << n;
  }
}

// How many of some trials do not end with exactly one leader known to all.
std::uint64_t failures(NodeCount n, KmppReading reading, bool has_identifiers, std::uint64_t trials,
                       std::uint64_t* two_leaders = nullptr, std::string_view wakeup = "all") {
  std::uint64_t failed = 0;
  for (std::uint64_t trial = 0; trial < trials; ++trial) {
    const TrialResult result = run<AdversarialTransit>(
        {.n = n,
         .wakeup = wakeup,
         .trial = trial,
         .options = {.has_identifiers = has_identifiers, .counts_edges = false},
         .reading = reading});
    failed += result.ending == Ending::converged ? 0 : 1;
    if (two_leaders != nullptr) *two_leaders += result.network->elected > 1 ? 1 : 0;
  }
  return failed;
}

TEST(KmppErrata, EachOtherReadingFailsWhereTheCorrectedOneDoesNot) {
  EXPECT_EQ(failures(30, KmppReading::corrected, true, 100, nullptr, "chain"), 0u);
  EXPECT_GT(failures(30, KmppReading::chosen_in_c1, true, 100, nullptr, "chain"), 20u);
  std::uint64_t two_leaders = 0;
  EXPECT_GT(failures(2, KmppReading::not_own_referee, true, 500, &two_leaders), 0u);
  EXPECT_GT(two_leaders, 0u);
}

// Ranks of 1 ... 16 with two nodes: ties are frequent.
TEST(KmppErrata, AnonymousTiesLeaveNoLeaderButNeverTwoUnlessRankIsIdentity) {
  std::uint64_t two_leaders = 0;
  EXPECT_GT(failures(2, KmppReading::corrected, false, 3000, &two_leaders), 0u);
  EXPECT_EQ(two_leaders, 0u);
  failures(3, KmppReading::corrected, false, 3000, &two_leaders);
  EXPECT_EQ(two_leaders, 0u);
  failures(3, KmppReading::by_rank, false, 3000, &two_leaders);
  EXPECT_GT(two_leaders, 0u);
}

// Messages of a referee.
struct Sent {
  Port port;
  KmppAsync::Kind kind;
};
struct Outbox {
  std::vector<Sent> sent;
  void send(Port port, const KmppAsync::Message& message) { sent.push_back({port, message.kind}); }
  void send_to_some(std::uint64_t, const KmppAsync::Message&, auto&) {}
  void broadcast(const KmppAsync::Message&) {}
};

// Lemma 3 has four units from a request to its answer as the largest delay. A request in state C2
// waits for the reply to an older DECIDE, for a DECIDE of its own, and for the answer: six units.
TEST(KmppErrata, RequestsMayWaitForTwoDecisions) {
  const KmppAsync protocol({}, 100);
  KmppAsync::Node referee = protocol.asleep(1);
  Outbox outbox;
  Stream unused({.seed = 1});
  using Kind = KmppAsync::Kind;
  const auto receive = [&](Port port, Kind kind, std::uint8_t phase, Identifier rank) {
    outbox.sent.clear();
    const KmppAsync::Message message{.kind = kind, .phase = phase, .id = rank, .rank = rank};
    protocol.on(referee, Received<KmppAsync::Message>{port, message}, outbox, unused);
    return outbox.sent.empty() ? Sent{Port{}, Kind::leader} : outbox.sent.front();
  };
  EXPECT_EQ(receive(1, Kind::request, 1, 10).kind, Kind::approved);
  EXPECT_EQ(receive(2, Kind::request, 1, 20).kind, Kind::decide);
  const Sent declined = receive(3, Kind::request, 2, 30);
  EXPECT_TRUE(declined.port == 2 && declined.kind == Kind::declined);
  const Sent again = receive(1, Kind::loses, 2, 20);  // the chosen is in phase 2 by now
  EXPECT_TRUE(again.port == 1 && again.kind == Kind::decide);
  const Sent approved = receive(1, Kind::wins, 2, 30);
  EXPECT_TRUE(approved.port == 3 && approved.kind == Kind::approved);
}

TEST(KmppSync, NeverNeedsMoreThanNineRounds) {
  for (const auto& wakeup : network::wakeups()) {
    for (const NodeCount n : {2u, 3u, 4u, 5u, 8u, 13u}) {
      for (std::uint64_t trial = 0; trial < 700 * thoroughness; ++trial) {
        const TrialResult result = run_in_rounds(n, wakeup.info.name, trial);
        ASSERT_LE(*result.network->rounds, 9u) << n << ' ' << wakeup.info.name << ' ' << trial;
        ASSERT_EQ(result.ending, Ending::converged) << n << ' ' << wakeup.info.name << ' ' << trial;
      }
    }
    for (const NodeCount n : {300u, 1000u}) {
      for (std::uint64_t trial = 0; trial < 20 * thoroughness; ++trial) {
        const TrialResult result = run_in_rounds(n, wakeup.info.name, trial);
        ASSERT_LE(*result.network->rounds, 9u) << n << ' ' << wakeup.info.name << ' ' << trial;
        ASSERT_EQ(result.ending, Ending::converged) << n << ' ' << wakeup.info.name << ' ' << trial;
      }
    }
  }
}

TEST(KmppSync, ALoneNodeTakesThreeSixOrNineRounds) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t trial = 0; trial < 300; ++trial) {
    seen.insert(*run_in_rounds(10, "one", trial).network->rounds);
  }
  EXPECT_EQ(seen, (std::set<std::uint64_t>{3, 6, 9}));
}

TEST(KmppSync, CountsEveryMessageOnce) {
  for (const auto& wakeup : network::wakeups()) {
    Inspector inspector;
    const TrialResult result = run_in_rounds(300, wakeup.info.name, 3, KmppSyncReading::corrected,
                                             {.watcher = &inspector});
    EXPECT_EQ(result.interactions, Interactions(inspector.messages)) << wakeup.info.name;
    EXPECT_EQ(result.network->most_on_an_edge, inspector.busiest) << wakeup.info.name;
  }
}

std::uint64_t most_rounds(KmppSyncReading reading, std::string_view wakeup, std::uint64_t trials) {
  std::uint64_t most = 0;
  for (std::uint64_t trial = 0; trial < trials; ++trial) {
    most = std::max(most, *run_in_rounds(1000, wakeup, trial, reading).network->rounds);
  }
  return most;
}

TEST(KmppSyncErrata, EachOtherReadingNeedsATenthRound) {
  EXPECT_EQ(most_rounds(KmppSyncReading::corrected, "staggered", 300), 9u);
  EXPECT_EQ(most_rounds(KmppSyncReading::replies_first, "staggered", 100), 10u);
  EXPECT_EQ(most_rounds(KmppSyncReading::toss_first, "staggered", 100), 10u);
  EXPECT_EQ(most_rounds(KmppSyncReading::answer_after_winner, "staggered", 100), 10u);
  EXPECT_GT(most_rounds(KmppSyncReading::active_retires, "staggered", 100), 9u);
}

TEST(KmppSyncErrata, WithoutTheOwnRefereeBothOfTwoNodesCanWin) {
  std::uint64_t most_winners = 0;
  for (std::uint64_t trial = 0; trial < 200; ++trial) {
    const auto result = run_in_rounds(2, "all", trial, KmppSyncReading::not_own_referee);
    most_winners = std::max(most_winners, result.network->by_kind[2].messages);
    EXPECT_EQ(run_in_rounds(2, "all", trial).network->by_kind[2].messages, 1u);
  }
  EXPECT_EQ(most_winners, 2u);
}

}  // namespace
}  // namespace conclave::tests
