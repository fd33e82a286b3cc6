// Transports on loopback: order, races, limits, restarts. What enemies try is in attacks_test.cpp.
#include "election/transport.hpp"

#include <dirent.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "conclave/base/error.hpp"

#include "election/tests/support/bad_cable.hpp"
#include "election/tests/support/transport_cluster.hpp"

namespace conclave::election {
namespace {

using namespace testing;

const Certified& certified() {
  static const Certified certificates{"test"};
  return certificates;
}

// Sockets of this process.
std::size_t open_descriptors() {
  DIR* folder = opendir("/proc/self/fd");
  std::size_t count = 0;
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

std::vector<std::string> numbered(std::size_t count) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < count; ++i) texts.push_back(std::to_string(i));
  return texts;
}

// Every test runs plain and with TLS.
class TransportTest : public ::testing::TestWithParam<bool> {
 protected:
  static const Certified* certificates() { return GetParam() ? &certified() : nullptr; }
};
INSTANTIATE_TEST_SUITE_P(PlainAndTls, TransportTest, ::testing::Bool(),
                         [](const auto& about) { return about.param ? "Tls" : "Plain"; });

TEST_P(TransportTest, OpensOneConnectionForBothDirections) {
  Cluster cluster(2, {}, certificates());
  cluster[1].reaction = [&](MemberIndex from, const std::string& text) {
    cluster[1].send(from, "re: " + text);
  };
  cluster[0].send(1, "hello");
  ASSERT_TRUE(cluster.run_until([&] { return cluster[0].received == 1; })) << cluster[0].log;
  EXPECT_EQ(cluster[0].from[1], std::vector<std::string>{"re: hello"});
  ASSERT_TRUE(cluster.run_until_idle());
  EXPECT_EQ(cluster[0].counters().connections_opened, 1u);
  EXPECT_EQ(cluster[0].counters().connections_accepted, 0u);
  EXPECT_EQ(cluster[1].counters().connections_accepted, 1u);
  EXPECT_EQ(cluster[1].counters().dials, 0u);
}

TEST_P(TransportTest, KeepsOrderWhenBothOpenAtOnce) {
  for (int round = 0; round < 10; ++round) {
    Cluster cluster(2, {}, certificates());
    for (const std::string& text : numbered(50)) {
      cluster[0].send(1, text);
      cluster[1].send(0, text);
    }
    ASSERT_TRUE(cluster.run_until_idle()) << cluster[0].log << cluster[1].log;
    EXPECT_EQ(cluster[0].from[1], numbered(50));
    EXPECT_EQ(cluster[1].from[0], numbered(50));
    EXPECT_EQ(cluster[0].counters().connections_now, 1u);
    EXPECT_EQ(cluster[1].counters().connections_now, 1u);
    EXPECT_EQ(cluster[0].disconnects + cluster[1].disconnects, 0);
  }
}

TEST_P(TransportTest, KeepsOrderOnEveryEdgeOfACompleteGraph) {
  constexpr MemberIndex members = 8;
  Cluster cluster(members, {}, certificates());
  for (const std::string& text : numbered(10)) {
    for (MemberIndex i = 0; i < members; ++i)
      for (MemberIndex j = 0; j < members; ++j)
        if (i != j) cluster[i].send(j, text);
    cluster.loop.run_for(1ms);
  }
  ASSERT_TRUE(cluster.run_until_idle());
  for (MemberIndex i = 0; i < members; ++i) {
    EXPECT_EQ(cluster[i].counters().connections_now, members - 1);
    for (MemberIndex j = 0; j < members; ++j)
      EXPECT_EQ(cluster[i].from[j], numbered(i == j ? 0 : 10)) << j << " to " << i;
  }
}

TEST_P(TransportTest, WaitsForAPeerThatDoesNotListenYet) {
  Cluster cluster(2, {}, certificates());
  cluster.stop(1);
  cluster[0].send(1, "early");
  const auto start = Loop::Clock::now();
  ASSERT_TRUE(cluster.run_until([&] { return cluster[0].counters().dials == 4; }));
  EXPECT_GE(Loop::Clock::now() - start, 140ms);  // pauses of 20, 40 and 80 ms
  cluster.start(1);
  EXPECT_TRUE(cluster.run_until([&] { return cluster[1].received == 1; }));
  EXPECT_TRUE(cluster[0].unreachable.empty());
}

TEST_P(TransportTest, GivesUpAPeerThatNeverListens) {
  TransportLimits limits;
  limits.patience = 1s;
  Cluster cluster(2, limits, certificates());
  cluster.stop(1);
  cluster[0].on_loss = [&](MemberIndex peer) { cluster[0].send(peer, "anew"); };
  cluster[0].send(1, "lost");
  ASSERT_TRUE(cluster.run_until([&] { return !cluster[0].unreachable.empty(); }));
  EXPECT_NE(cluster[0].unreachable[0].find("Connection refused"), std::string::npos)
      << cluster[0].unreachable[0];
  EXPECT_EQ(cluster[0].counters().messages_lost, 1u);
  EXPECT_EQ(cluster[0].transport->pending(), 1u);
  cluster.start(1);
  ASSERT_TRUE(cluster.run_until_idle());
  EXPECT_EQ(cluster[1].from[0], std::vector<std::string>{"anew"});
}

TEST_P(TransportTest, TellsWhenAPeerIsAnotherProcess) {
  Cluster cluster(2, {}, certificates());
  cluster[0].send(1, "to the first");
  ASSERT_TRUE(cluster.run_until_idle());
  cluster.stop(1);
  ASSERT_TRUE(cluster.run_until([&] { return cluster[0].disconnects == 1; }));
  cluster.start(1);
  cluster[0].send(1, "to the second");
  cluster[1].send(0, "from the second");
  ASSERT_TRUE(cluster.run_until_idle());
  EXPECT_EQ(cluster[0].restarts, 1);
  EXPECT_EQ(cluster[1].restarts, 0);
  EXPECT_EQ(cluster[1].from[0], (std::vector<std::string>{"to the first", "to the second"}));
  EXPECT_EQ(cluster[0].from[1], (std::vector<std::string>{"from the second"}));
}

// Two members, each of which reaches the other over a cable of its own.
struct BadlyConnected {
  explicit BadlyConnected(const TransportLimits& limits, const Certified* certificates)
      : cluster(2, limits, certificates) {
    cluster[0].transport->move_member(1, {"127.0.0.1", to_second.port()});
    cluster[1].transport->move_member(0, {"127.0.0.1", to_first.port()});
  }
  Cluster cluster;
  BadCable to_first{cluster.ports[0]};
  BadCable to_second{cluster.ports[1]};
};

TEST_P(TransportTest, LosesNothingWhenCablesAreCut) {
  BadlyConnected pair({}, certificates());
  Cluster& cluster = pair.cluster;
  constexpr std::size_t messages = 400;
  for (std::size_t i = 0; i < messages; ++i) {
    cluster[0].send(1, std::to_string(i));
    cluster[1].send(0, std::to_string(i));
    if (i % 4 == 0) cluster.loop.run_for(1ms);
    if (i % 40 == 20) pair.to_first.cut();
    if (i % 60 == 40) pair.to_second.cut();
  }
  ASSERT_TRUE(cluster.run_until_idle()) << cluster[0].log << cluster[1].log;
  EXPECT_EQ(cluster[0].from[1], numbered(messages));
  EXPECT_EQ(cluster[1].from[0], numbered(messages));
  EXPECT_GT(pair.to_first.connections() + pair.to_second.connections(), 3);
  EXPECT_EQ(cluster[0].counters().messages_lost + cluster[1].counters().messages_lost, 0u);
  EXPECT_EQ(cluster[0].restarts + cluster[1].restarts, 0);
}

// Whichever of the two has opened the connection, and whichever has something to say.
TEST_P(TransportTest, OpensAnotherConnectionWhenOneGoesDead) {
  TransportLimits limits;
  limits.silence = 100ms;
  limits.introduction = 1s;
  for (const MemberIndex opener : {0u, 1u}) {
    for (const MemberIndex speaker : {0u, 1u}) {
      BadlyConnected pair(limits, certificates());
      Cluster& cluster = pair.cluster;
      cluster[opener].send(1 - opener, "0");
      ASSERT_TRUE(cluster.run_until_idle());
      pair.to_first.kill_silently();
      pair.to_second.kill_silently();
      cluster.loop.run_for(std::chrono::milliseconds{20});
      cluster[speaker].send(1 - speaker, "1");
      ASSERT_TRUE(cluster.run_until_idle()) << cluster[0].log << cluster[1].log;
      EXPECT_EQ(cluster[1 - speaker].from[speaker].back(), "1");
      EXPECT_EQ(cluster[1 - speaker].received, speaker == opener ? 2u : 1u);
    }
  }
}

TEST_P(TransportTest, RefusesMessagesForAFullQueueUntilThereIsRoom) {
  TransportLimits limits;
  limits.queued_messages = 8;
  Cluster cluster(2, limits, certificates());
  std::size_t taken = 0;
  while (cluster[0].send(1, std::to_string(taken))) ++taken;
  EXPECT_EQ(taken, 8u);
  EXPECT_EQ(cluster[0].transport->pending(), 8u);
  ASSERT_TRUE(cluster.run_until([&] { return cluster[0].transport->pending() < 8; }));
  EXPECT_TRUE(cluster[0].send(1, "8"));
  ASSERT_TRUE(cluster.run_until_idle());
  EXPECT_EQ(cluster[1].from[0], numbered(9));
}

TEST_P(TransportTest, BoundsTheBytesOfAQueue) {
  TransportLimits limits;
  limits.queued_bytes = 3000;
  Cluster cluster(2, limits, certificates());
  const std::string large(max_message_bytes, 'x');
  EXPECT_TRUE(cluster[0].send(1, large));
  EXPECT_TRUE(cluster[0].send(1, large));
  EXPECT_FALSE(cluster[0].send(1, large));
}

TEST_P(TransportTest, ReadsNoMoreThanItsBudget) {
  TransportLimits limits;
  limits.bytes_at_once = 16'384;
  limits.bytes_per_second = 65'536;
  Cluster cluster(3, limits, certificates());
  cluster[2].send(1, "hello");
  ASSERT_TRUE(cluster.run_until_idle());
  const std::string large(max_message_bytes, 'x');
  for (int i = 0; i < 96; ++i) cluster[0].send(1, large);
  const auto start = Loop::Clock::now();
  cluster.run_until([&] { return cluster[1].counters().pauses > 0; });
  cluster[2].send(1, "modest");
  ASSERT_TRUE(cluster.run_until([&] { return cluster[1].from[2].size() == 2; }));
  EXPECT_LT(cluster[1].from[0].size(), 96u);  // the greedy one does not hold up others
  ASSERT_TRUE(cluster.run_until_idle());
  EXPECT_GT(Loop::Clock::now() - start, 950ms);  // 96 KiB without 16 at once and 16 per reading
  EXPECT_EQ(cluster[1].from[0].size(), 96u);
}

TEST_P(TransportTest, DeliversEverythingBeforeItCloses) {
  Cluster cluster(3, {}, certificates());
  for (const std::string& text : numbered(100)) {
    cluster[0].send(1, text);
    cluster[0].send(2, text);
  }
  bool is_closed = false;
  cluster[0].transport->close([&] {
    is_closed = true;
    cluster.stop(0);
  });
  EXPECT_FALSE(cluster[0].send(1, "too late"));
  ASSERT_TRUE(cluster.run_until([&] { return is_closed; }));
  ASSERT_TRUE(cluster.run_until([&] { return cluster[1].unreachable.size() == 1; }));
  EXPECT_NE(cluster[1].unreachable[0].find("it has left"), std::string::npos);
  EXPECT_EQ(cluster[1].from[0], numbered(100));
  EXPECT_EQ(cluster[2].from[0], numbered(100));
}

TEST_P(TransportTest, LeavesNoDescriptorsBehind) {
  const std::size_t before = open_descriptors();
  for (int round = 0; round < 12; ++round) {
    Cluster cluster(5, {}, certificates());
    for (MemberIndex i = 0; i < 5; ++i)
      for (MemberIndex j = 0; j < 5; ++j)
        if (i != j) cluster[i].send(j, "x");
    if (round % 3 == 0)
      cluster.loop.run_for(1ms);  // in the middle of everything
    else
      ASSERT_TRUE(cluster.run_until_idle());
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST(Loop, TellsOnceWhenADescriptorCanBeReadOrItsWritersAreGone) {
  for (const bool writes : {true, false}) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    Loop loop;
    int calls = 0;
    loop.when_readable(ends[0], [&] { ++calls; });
    loop.run_for(std::chrono::milliseconds{20});
    EXPECT_EQ(calls, 0);
    if (writes) {
      ASSERT_EQ(::write(ends[1], "x", 1), 1);
    } else {
      ::close(ends[1]);
    }
    loop.run_for(std::chrono::seconds{5});
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(::close(ends[0]), 0) << "it is still the caller's";
    if (writes) ::close(ends[1]);
  }
}

TEST(Transport, ListensOnLoopbackOnlyWithoutTls) {
  Loop loop;
  Member member(1);
  const auto at = [&](const std::string& host) {
    return TransportOptions{.cluster = "test", .self = 0, .members = {{host, 0}}};
  };
  EXPECT_THROW(Transport(loop, at("0.0.0.0"), member), Error);
  EXPECT_NO_THROW(Transport(loop, at("127.0.0.1"), member));
  EXPECT_NO_THROW(Transport(loop, at("localhost"), member));
  auto secure = at("0.0.0.0");
  secure.credentials = certified().member(0);
  EXPECT_NO_THROW(Transport(loop, secure, member));
}

TEST(Transport, DialsLoopbackOnlyWithoutTls) {
  TransportLimits limits;
  limits.patience = 50ms;
  Cluster cluster(2, limits);
  cluster[0].transport->move_member(1, {"192.0.2.1", 7000});
  cluster[0].send(1, "secret");
  ASSERT_TRUE(cluster.run_until([&] { return !cluster[0].unreachable.empty(); }));
  EXPECT_NE(cluster[0].unreachable[0].find("only loopback"), std::string::npos);
}

TEST(Transport, NamesThePortThatIsInUse) {
  Cluster cluster(1);
  Member second(1);
  const TransportOptions options{
      .cluster = "test", .self = 0, .members = {{"127.0.0.1", cluster.ports[0]}}};
  try {
    const Transport transport(cluster.loop, options, second);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), "cannot listen on 127.0.0.1:" + std::to_string(cluster.ports[0]) +
                                ": Address already in use");
  }
}

TEST(Transport, ReadsEndpoints) {
  EXPECT_EQ(parse_endpoint("10.0.0.7:7000"), (Endpoint{"10.0.0.7", 7000}));
  EXPECT_EQ(parse_endpoint("[::1]:80"), (Endpoint{"::1", 80}));
  EXPECT_EQ(to_string(Endpoint{"::1", 80}), "[::1]:80");
  for (const char* wrong : {"", "host", "host:", ":80", "host:x", "host:70000", "::1:80", "h:-1"})
    EXPECT_THROW(parse_endpoint(wrong), Error) << wrong;
}

TEST(Reconnecting, ResumesTheTlsSessionWithTheSameProcess) {
  BadlyConnected pair({}, &certified());
  Cluster& cluster = pair.cluster;
  const auto send_and_wait = [&](std::size_t received) {
    cluster[0].send(1, "x");
    ASSERT_TRUE(cluster.run_until([&] { return cluster[1].received == received; }));
    ASSERT_TRUE(cluster.run_until_idle());
  };
  send_and_wait(1);
  for (std::uint64_t again = 1; again <= 3; ++again) {
    EXPECT_EQ(cluster[0].counters().connections_resumed, again - 1);
    pair.to_second.cut();
    ASSERT_TRUE(
        cluster.run_until([&] { return cluster[0].disconnects == static_cast<int>(again); }));
    send_and_wait(again + 1);
  }
  EXPECT_EQ(cluster[0].counters().connections_resumed, 3u);
  EXPECT_EQ(cluster[1].counters().connections_resumed, 3u);
  cluster[0].transport->reload(cluster.issued[0], {});
  pair.to_second.cut();
  ASSERT_TRUE(cluster.run_until([&] { return cluster[0].disconnects == 4; }));
  send_and_wait(5);
  EXPECT_EQ(cluster[0].counters().connections_resumed, 3u) << "not across credentials";
}

TEST(Reloading, EndsConnectionsWithRevokedCertificatesOnly) {
  Cluster cluster(3, {}, &certified());
  cluster[0].send(1, "before");
  cluster[0].send(2, "before");
  ASSERT_TRUE(cluster.run_until([&] { return cluster[1].received + cluster[2].received == 2; }));
  const std::string serial = serial_of(cluster.issued[1].certificate);
  cluster[0].transport->reload(cluster.issued[0], {serial});
  EXPECT_EQ(cluster[0].refusals(Refusal::revoked), 1u);
  EXPECT_EQ(cluster[0].disconnects, 1);
  cluster[1].send(0, "after");
  cluster[2].send(0, "after");
  ASSERT_TRUE(cluster.run_until(
      [&] { return cluster[0].received == 1 && cluster[0].refusals(Refusal::revoked) > 2; }));
  EXPECT_TRUE(cluster[0].from[1].empty()) << "its certificate is revoked";
  EXPECT_EQ(cluster[0].from[2].size(), 1u);

  cluster[1].transport->reload(certified().member(1), {});  // a new certificate for member 1
  ASSERT_TRUE(cluster.run_until([&] { return cluster[0].from[1].size() == 1; })) << cluster[0].log;
}

TEST(Reloading, ChangesNothingWhereTheCredentialsAreBad) {
  Cluster cluster(2, {}, &certified());
  Transport& transport = *cluster[0].transport;
  EXPECT_THROW(transport.reload(cluster.issued[1], {}), Error) << "another member's";
  EXPECT_THROW(transport.reload({}, {}), Error) << "TLS cannot end";
  EXPECT_THROW(transport.reload(cluster.issued[0], {"not hexadecimal"}), Error);
  EXPECT_THROW(transport.reload(cluster.issued[0], {serial_of(cluster.issued[0].certificate)}),
               Error)
      << "its own";
  cluster[0].send(1, "still there");
  EXPECT_TRUE(cluster.run_until([&] { return cluster[1].received == 1; }));
}

}  // namespace
}  // namespace conclave::election
