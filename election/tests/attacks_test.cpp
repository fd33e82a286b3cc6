// An enemy at the port of a member, without and with a certificate. After every attack the victim
// still talks with an honest member, has counted the refusal and holds no socket of the enemy. The
// table of docs/reference/transport.md lists these tests.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "conclave/base/random.hpp"

#include "election/tests/support/attacker.hpp"
#include "election/tests/support/transport_cluster.hpp"

namespace conclave::election {
namespace {

using namespace testing;
using std::chrono::days;

const Certified& certified() {
  static const Certified certificates{"test"};
  return certificates;
}
const Credentials& enemy_credentials() {  // a real member's, who has turned bad
  static const Credentials credentials = certified().member(2);
  return credentials;
}
const Hello enemy_hello{
    .sender = 2, .receiver = 0, .incarnation = 99, .nonce = 1, .cluster = "test"};

TransportLimits impatient() {
  TransportLimits limits;
  limits.introduction = 600ms;
  limits.strangers = 20;
  return limits;
}

// Member 0 is the victim, 1 an honest member, 2 the enemy.
class Siege {
 public:
  explicit Siege(bool is_secure, const TransportLimits& limits = impatient())
      : cluster_(3, limits, is_secure ? &certified() : nullptr) {
    cluster_.stop(2);
    victim().send(1, "hello");
    EXPECT_TRUE(cluster_.run_until_idle());
  }

  Member& victim() { return cluster_[0]; }
  Cluster& cluster() { return cluster_; }

  // The enemy has its own thread, while the loop of the members goes on.
  template <class Attack>
  void run(Attack attack) {
    auto enemy = std::async(std::launch::async, [&] { attack(cluster_.ports[0]); });
    EXPECT_TRUE(
        cluster_.run_until([&] { return enemy.wait_for(0s) == std::future_status::ready; }, 20s));
    enemy.get();
  }
  // Runs one connection of the enemy until it is refused for that reason.
  template <class Attack>
  void expect(Refusal refusal, Attack attack) {
    const std::uint64_t before = victim().refusals(refusal);
    run([&](std::uint16_t port) {
      Attacker attacker(port);
      attack(attacker);
      while (!attacker.read().empty()) continue;  // until the victim has enough
    });
    EXPECT_TRUE(cluster_.run_until([&] { return victim().refusals(refusal) == before + 1; }, 20s))
        << "not refused as " << name_of(refusal) << "; log:\n"
        << victim().log;
    expect_unharmed();
  }
  void expect_unharmed() {
    const std::size_t before = cluster_[1].received;
    victim().send(1, "still there?");
    EXPECT_TRUE(cluster_.run_until([&] { return cluster_[1].received == before + 1; }));
    EXPECT_TRUE(cluster_.run_until([&] { return victim().counters().connections_now == 1; }))
        << victim().counters().connections_now;
    EXPECT_TRUE(victim().from[2].empty()) << "a message of the enemy got through";
  }

 private:
  Cluster cluster_;
};

Attacker::Bytes noise(std::size_t size, std::uint64_t seed) {
  Stream stream({.seed = seed});
  Attacker::Bytes bytes(size);
  for (std::byte& one : bytes) one = static_cast<std::byte>(stream.below(256));
  return bytes;
}

// ---- Before TLS: anybody who reaches the port.

TEST(Attacks, NoiseInsteadOfTls) {
  Siege siege(true);
  siege.expect(Refusal::handshake_failed, [](Attacker& enemy) { enemy.write(noise(500, 1)); });
}

TEST(Attacks, AnotherProtocolInsteadOfTls) {
  Siege siege(true);
  siege.expect(Refusal::handshake_failed, [](Attacker& enemy) {
    enemy.write(bytes_of("GET / HTTP/1.1\r\nHost: victim\r\n\r\n"));
  });
}

TEST(Attacks, FramesWithoutTls) {
  Siege siege(true);
  siege.expect(Refusal::handshake_failed, [](Attacker& enemy) { enemy.write(Frame{enemy_hello}); });
}

TEST(Attacks, OlderTls) {
  Siege siege(true);
  siege.expect(Refusal::handshake_failed, [](Attacker& enemy) {
    EXPECT_FALSE(enemy.start_tls(enemy_credentials(), TLS1_2_VERSION));
  });
}

TEST(Attacks, NoCertificate) {
  Siege siege(true);
  siege.expect(Refusal::no_certificate, [](Attacker& enemy) {
    enemy.start_tls({});
    enemy.write(Frame{enemy_hello});
  });
}

TEST(Attacks, CertificateOfAnotherAuthority) {
  Siege siege(true);
  const Certified foreign{"test"};
  siege.expect(Refusal::foreign_cluster, [&](Attacker& enemy) {
    enemy.start_tls(foreign.member(2));
    enemy.write(Frame{enemy_hello});
  });
}

TEST(Attacks, CertificateOfAnotherCluster) {
  Siege siege(true);
  const Credentials foreign =
      issue_credentials(certified().authority, {"other", 2}, valid_for(days{1}));
  siege.expect(Refusal::foreign_cluster, [&](Attacker& enemy) {
    EXPECT_TRUE(enemy.start_tls(foreign));
    enemy.write(Frame{enemy_hello});
  });
}

TEST(Attacks, CertificateThatIsItsOwnAuthority) {
  Siege siege(true);
  const Authority own = make_authority("test", valid_for(days{1}));
  siege.expect(Refusal::bad_certificate, [&](Attacker& enemy) {
    enemy.start_tls(Credentials{"", own.certificate, own.key});
    enemy.write(Frame{enemy_hello});
  });
}

TEST(Attacks, CertificateIssuedByAMember) {
  Siege siege(true);
  const Credentials& member = enemy_credentials();
  const Credentials forged =
      issue_credentials({member.certificate, member.key}, {"test", 1}, valid_for(days{1}));
  siege.expect(Refusal::bad_certificate, [&](Attacker& enemy) {
    enemy.start_tls(forged, TLS1_3_VERSION, member.certificate);
    enemy.write(Frame{enemy_hello});
  });
}

TEST(Attacks, ExpiredAndEarlyCertificates) {
  Siege siege(true);
  const auto now = std::chrono::system_clock::now();
  for (const Validity& validity :
       {Validity{now - days{3}, now - days{1}}, Validity{now + days{1}, now + days{3}}}) {
    const auto untimely = issue_credentials(certified().authority, {"test", 2}, validity);
    siege.expect(Refusal::certificate_time, [&](Attacker& enemy) {
      enemy.start_tls(untimely);
      enemy.write(Frame{enemy_hello});
    });
  }
  EXPECT_NE(siege.victim().log.find("are both clocks right?"), std::string::npos);
}

TEST(Attacks, RecordedConnectionPlayedAgain) {
  Siege siege(true);
  Attacker::Bytes recorded;
  siege.run([&](std::uint16_t port) {
    Attacker honest(port);
    ASSERT_TRUE(honest.start_tls(enemy_credentials()));
    ASSERT_TRUE(honest.introduce(enemy_hello));
    recorded = honest.recorded();
  });
  ASSERT_GT(recorded.size(), 500u);
  siege.expect(Refusal::handshake_failed, [&](Attacker& enemy) { enemy.write(recorded); });
}

TEST(Attacks, SessionTicketsAndEarlyData) {
  Siege siege(true);
  siege.run([&](std::uint16_t port) {
    Attacker honest(port);
    ASSERT_TRUE(honest.start_tls(enemy_credentials()));
    ASSERT_TRUE(honest.introduce(enemy_hello));
    SSL_SESSION* session = honest.resumable_session();
    ASSERT_NE(session, nullptr);
    EXPECT_EQ(SSL_SESSION_get_max_early_data(session), 0u);
    Attacker again(port);  // resumes the session, without a certificate, under another's name
    ASSERT_TRUE(again.start_tls({}, TLS1_3_VERSION, {}, session));
    EXPECT_TRUE(again.has_resumed());
    Hello pretended = enemy_hello;
    pretended.sender = 0;
    again.write(Frame{pretended});
    EXPECT_EQ(again.read_refusal(), Refusal::wrong_identity);
    SSL_SESSION_free(session);
  });
  siege.expect_unharmed();
}

// Every byte of a handshake's beginning turned once.
TEST(Attacks, DamagedHandshakes) {
  Siege siege(true);
  Attacker::Bytes recorded;
  siege.run([&](std::uint16_t port) {
    Attacker honest(port);
    ASSERT_TRUE(honest.start_tls(enemy_credentials()));
    recorded = honest.recorded();
  });
  siege.run([&](std::uint16_t port) {
    for (std::size_t i = 0; i < 300 && i < recorded.size(); i += 7) {
      Attacker enemy(port);
      Attacker::Bytes damaged = recorded;
      damaged[i] ^= std::byte{0x41};
      enemy.write(damaged);
    }
  });
  siege.expect_unharmed();
}

// ---- Time and numbers.

TEST(Attacks, SilentConnections) {
  for (const bool is_secure : {false, true}) {
    Siege siege(is_secure);
    siege.expect(Refusal::too_slow, [](Attacker&) {});
  }
}

TEST(Attacks, OneByteAtATime) {
  for (const bool is_secure : {false, true}) {
    Siege siege(is_secure);
    // The first bytes of a client's first record, or of a hello.
    const auto beginning = bytes_of(is_secure ? std::string("\x16\x03\x01\x02\x00\x01\x00\x01", 8)
                                              : std::string("\x00\x3f\x04\x01\x00\x00\x00\x02", 8));
    siege.expect(Refusal::too_slow, [&](Attacker& enemy) {
      for (const std::byte& one : beginning) {
        std::this_thread::sleep_for(100ms);
        if (!enemy.write(std::span{&one, 1})) return;
      }
    });
  }
}

TEST(Attacks, HalfHandshakesThatEndOrReset) {
  Siege siege(true);
  siege.run([](std::uint16_t port) {
    for (int i = 0; i < 50; ++i) {
      Attacker enemy(port);
      enemy.write(bytes_of(std::string("\x16\x03\x01\x02\x00\x01", 6)));
      if (i % 2 == 0) enemy.reset();
    }
  });
  siege.expect_unharmed();
}

TEST(Attacks, HundredsOfConnectionsAtOnce) {
  for (const bool is_secure : {false, true}) {
    TransportLimits limits = impatient();
    limits.introduction = 20s;  // so that only the number protects
    Siege siege(is_secure, limits);
    std::vector<std::unique_ptr<Attacker>> crowd;
    siege.run([&](std::uint16_t port) {
      for (int i = 0; i < 300; ++i) crowd.push_back(std::make_unique<Attacker>(port));
    });
    EXPECT_TRUE(siege.cluster().run_until(
        [&] { return siege.victim().refusals(Refusal::too_many_connections) == 300 - 23; }));
    EXPECT_LE(siege.victim().counters().connections_now, 24u);
    siege.cluster().stop(1);  // and has to come in again
    siege.cluster().start(1);
    siege.cluster()[1].send(0, "through the crowd");
    EXPECT_TRUE(siege.cluster().run_until([&] { return siege.victim().received == 1; }));
    crowd.clear();
    siege.expect_unharmed();
  }
}

// ---- With a member's certificate, or without TLS on loopback: frames.

class FrameAttacks : public ::testing::TestWithParam<bool> {
 protected:
  // An enemy that has got through TLS, if there is any.
  void expect(Refusal refusal, const std::function<void(Attacker&)>& attack) {
    siege_.expect(refusal, [&](Attacker& enemy) {
      if (GetParam()) {
        ASSERT_TRUE(enemy.start_tls(enemy_credentials()));
      }
      attack(enemy);
    });
  }
  // ... and has introduced itself.
  void expect_later(Refusal refusal, const std::function<void(Attacker&)>& attack) {
    expect(refusal, [&](Attacker& enemy) {
      ASSERT_TRUE(enemy.introduce(enemy_hello));
      attack(enemy);
    });
  }
  Siege siege_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(PlainAndTls, FrameAttacks, ::testing::Bool(),
                         [](const auto& about) { return about.param ? "Tls" : "Plain"; });

TEST_P(FrameAttacks, AnotherMembersIdentity) {
  Hello liar = enemy_hello;
  if (GetParam()) {
    liar.sender = 1;  // the certificate says 2
    expect(Refusal::wrong_identity, [&](Attacker& enemy) { enemy.write(Frame{liar}); });
  }
  for (const MemberIndex nobody : {0u, 3u, 0xffffffffu}) {
    liar.sender = nobody;
    expect(Refusal::wrong_identity, [&](Attacker& enemy) { enemy.write(Frame{liar}); });
  }
}

TEST_P(FrameAttacks, AHelloForSomebodyElse) {
  Hello lost = enemy_hello;
  lost.receiver = 1;
  expect(Refusal::wrong_identity, [&](Attacker& enemy) { enemy.write(Frame{lost}); });
}

TEST_P(FrameAttacks, AnotherClustersName) {
  Hello foreign = enemy_hello;
  foreign.cluster = "other";
  expect(Refusal::foreign_cluster, [&](Attacker& enemy) { enemy.write(Frame{foreign}); });
}

TEST_P(FrameAttacks, AHelloOfAnotherConfiguration) {
  Hello longer = enemy_hello;
  longer.agreement.members = 9;
  expect(Refusal::other_configuration, [&](Attacker& enemy) { enemy.write(Frame{longer}); });
  Hello hasty = enemy_hello;
  hasty.agreement.lease_ms = 1;
  expect(Refusal::other_configuration, [&](Attacker& enemy) { enemy.write(Frame{hasty}); });
}

TEST_P(FrameAttacks, MalformedFrames) {
  expect(Refusal::malformed,
         [](Attacker& enemy) { enemy.write(bytes_of(std::string("\0\4\4\11abcd", 8))); });
  expect_later(Refusal::malformed,
               [](Attacker& enemy) { enemy.write(bytes_of(std::string("\0\1\4\3a", 5))); });
}

TEST_P(FrameAttacks, OversizedFrames) {
  expect(Refusal::oversized,
         [](Attacker& enemy) { enemy.write(bytes_of(std::string("\377\377\4\3", 4))); });
}

TEST_P(FrameAttacks, AnotherVersion) {
  expect(Refusal::wrong_version,
         [](Attacker& enemy) { enemy.write(bytes_of(std::string("\0\4\1\4abcd", 8))); });
}

TEST_P(FrameAttacks, MessagesBeforeTheIntroduction) {
  expect(Refusal::out_of_order, [](Attacker& enemy) { enemy.write(Frame{Message{}}); });
  expect(Refusal::out_of_order, [](Attacker& enemy) {
    enemy.write(Frame{enemy_hello});
    enemy.write(Frame{Message{}});
  });
  expect(Refusal::out_of_order, [](Attacker& enemy) { enemy.write(Frame{Ready{}}); });
  expect(Refusal::out_of_order, [](Attacker& enemy) {
    enemy.write(Frame{enemy_hello});
    enemy.write(Frame{enemy_hello});
  });
}

TEST_P(FrameAttacks, AGapBetweenMessages) {
  expect_later(Refusal::out_of_order,
               [](Attacker& enemy) { enemy.write(Frame{Message{.number = 1}}); });
}

TEST_P(FrameAttacks, AcknowledgementsOfWhatWasNeverSent) {
  expect_later(Refusal::malformed, [](Attacker& enemy) { enemy.write(Frame{Acknowledgement{5}}); });
}

TEST_P(FrameAttacks, AReadyOfAnotherConnection) {
  expect(Refusal::replayed, [](Attacker& enemy) {
    enemy.write(Frame{enemy_hello});
    enemy.write(Frame{Ready{.echo = 12345}});  // as recorded on an earlier connection
  });
}

// More than a member may send is read slowly, and not at the cost of others.
TEST_P(FrameAttacks, AFloodOfMessages) {
  const Attacker::Bytes large(max_message_bytes, std::byte{7});
  std::atomic<bool> is_over = false;
  std::atomic<std::uint32_t> sent = 0;
  auto flood = std::async(std::launch::async, [&, port = siege_.cluster().ports[0]] {
    Attacker enemy(port);
    if (GetParam()) enemy.start_tls(enemy_credentials());
    enemy.introduce(enemy_hello);
    while (!is_over && enemy.write(Frame{Message{.number = sent, .bytes = large}})) ++sent;
  });
  ASSERT_TRUE(siege_.cluster().run_until([&] { return siege_.victim().counters().pauses > 0; }));
  const auto start = Loop::Clock::now();
  for (std::size_t i = 1; i <= 20; ++i) {
    siege_.cluster()[1].send(0, "modest");
    ASSERT_TRUE(siege_.cluster().run_until([&] { return siege_.victim().from[1].size() == i; }));
  }
  const std::chrono::duration<double> time = Loop::Clock::now() - start;
  is_over = true;
  const TransportLimits limits = impatient();
  EXPECT_LT(static_cast<double>(siege_.victim().from[2].size() * max_message_bytes),
            static_cast<double>(limits.bytes_at_once) +
                (time.count() + 1) * static_cast<double>(limits.bytes_per_second));
  siege_.cluster().run_until([&] { return flood.wait_for(0s) == std::future_status::ready; });
}

// A member that reads nothing fills its own queue only, and is given up.
TEST_P(FrameAttacks, AMemberThatNeverReads) {
  TransportLimits limits = impatient();
  limits.queued_messages = 100;
  limits.silence = 500ms;
  limits.patience = 1s;
  Siege siege(GetParam(), limits);
  std::promise<void> is_over;
  auto enemy = std::async(std::launch::async, [&, port = siege.cluster().ports[0]] {
    Attacker deaf(port);
    if (GetParam()) deaf.start_tls(enemy_credentials());
    deaf.introduce(enemy_hello);
    is_over.get_future().wait();
  });
  const TransportCounters& counters = siege.victim().counters();
  ASSERT_TRUE(siege.cluster().run_until(
      [&] { return counters.connections_opened + counters.connections_accepted == 2; }));
  std::size_t taken = 0;
  while (siege.victim().send(2, std::string(max_message_bytes, 'x'))) ++taken;
  EXPECT_EQ(taken, 100u);
  siege.victim().send(1, "to the other");
  ASSERT_TRUE(siege.cluster().run_until([&] { return siege.cluster()[1].received == 2; }));
  ASSERT_TRUE(siege.cluster().run_until([&] { return !siege.victim().unreachable.empty(); }));
  EXPECT_EQ(siege.victim().counters().messages_lost, 100u);
  is_over.set_value();
  enemy.get();
  siege.expect_unharmed();
}

TEST_P(FrameAttacks, ARepeatedMessage) {
  const auto text = bytes_of("once");
  siege_.run([&](std::uint16_t port) {
    Attacker enemy(port);
    if (GetParam()) {
      ASSERT_TRUE(enemy.start_tls(enemy_credentials()));
    }
    ASSERT_TRUE(enemy.introduce(enemy_hello));
    enemy.write(Frame{Message{.number = 0, .bytes = text}});
    enemy.write(Frame{Message{.number = 0, .bytes = text}});
    EXPECT_EQ(enemy.read_refusal(), Refusal::out_of_order);
  });
  EXPECT_EQ(siege_.victim().from[2], std::vector<std::string>{"once"});
}

}  // namespace
}  // namespace conclave::election
