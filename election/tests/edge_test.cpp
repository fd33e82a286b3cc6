// The two ends of an edge over connections that break at any moment, and the introduction.
#include "election/detail/edge.hpp"

#include <deque>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "conclave/base/random.hpp"
#include "election/agreement.hpp"
#include "election/detail/introduction.hpp"
#include "election/log_limit.hpp"

#include "election/tests/support/transport_cluster.hpp"

namespace conclave::election::detail {
namespace {

using testing::bytes_of;
using testing::text_of;

constexpr Edge::Limits generous{1000, 1'000'000};

// Carries one message from one end to the other, if there is one, and its acknowledgement.
Edge::Arrival carry(Edge& from, Edge& to) {
  const auto message = from.next();
  EXPECT_TRUE(message.has_value());
  EXPECT_TRUE(to.acknowledge(message->received));
  return to.arrive(message->number);
}

void connect(Edge& a, Edge& b) {
  const auto of_a = a.position_for(2);
  const auto of_b = b.position_for(1);
  EXPECT_TRUE(a.resume(2, {0, of_b.received, of_b.first}));
  EXPECT_TRUE(b.resume(1, {0, of_a.received, of_a.first}));
}

TEST(Edge, LetsMessagesThroughOnceAndInOrder) {
  Edge a(generous), b(generous);
  connect(a, b);
  for (const char* text : {"x", "y", "z"}) a.push(bytes_of(text));
  EXPECT_EQ(carry(a, b), Edge::Arrival::fresh);
  EXPECT_EQ(b.arrive(0), Edge::Arrival::duplicate);
  EXPECT_EQ(b.arrive(2), Edge::Arrival::gap);
  EXPECT_EQ(carry(a, b), Edge::Arrival::fresh);
  EXPECT_EQ(a.pending(), 3u);
  EXPECT_TRUE(a.acknowledge(b.acknowledgement()));
  EXPECT_EQ(a.pending(), 1u);
  EXPECT_EQ(b.owed(), 0u);
}

TEST(Edge, SendsAgainWhatABrokenConnectionHasSwallowed) {
  Edge a(generous), b(generous);
  connect(a, b);
  for (const char* text : {"x", "y"}) a.push(bytes_of(text));
  EXPECT_EQ(carry(a, b), Edge::Arrival::fresh);
  (void)a.next();  // never arrives
  connect(a, b);
  EXPECT_EQ(a.pending(), 1u);  // the new connection has acknowledged x
  EXPECT_EQ(text_of(a.next()->bytes), "y");
}

TEST(Edge, RefusesAcknowledgementsOfWhatWasNotSent) {
  Edge a(generous), b(generous);
  a.push(bytes_of("x"));
  connect(a, b);
  EXPECT_FALSE(a.acknowledge(1));  // still waits to be sent
  (void)a.next();
  EXPECT_FALSE(a.acknowledge(2));
  EXPECT_TRUE(a.acknowledge(1));
  EXPECT_TRUE(a.acknowledge(0));  // an old one that was overtaken
  EXPECT_FALSE(a.resume(2, {0, 9, 0}));
}

TEST(Edge, GivesANewProcessOnlyWhatTheOldOneCannotHaveSeen) {
  Edge a(generous), b(generous);
  connect(a, b);
  for (const char* text : {"seen", "perhaps", "never sent"}) a.push(bytes_of(text));
  EXPECT_EQ(carry(a, b), Edge::Arrival::fresh);
  EXPECT_TRUE(a.acknowledge(b.acknowledgement()));
  (void)a.next();
  Edge fresh(generous);
  EXPECT_EQ(a.position_for(3).received, 0u);
  const auto resumption = a.resume(3, {0, 0, 0});
  ASSERT_TRUE(resumption.has_value());
  EXPECT_TRUE(resumption->is_other_process);
  EXPECT_EQ(resumption->lost, 1u);
  EXPECT_TRUE(fresh.resume(1, {0, 0, 0}));
  const auto message = a.next();
  EXPECT_EQ(text_of(message->bytes), "never sent");
  EXPECT_EQ(fresh.arrive(message->number), Edge::Arrival::fresh);
}

TEST(Edge, GoesOnAfterMessagesWereGivenUp) {
  Edge a(generous), b(generous);
  connect(a, b);
  for (const char* text : {"x", "y"}) a.push(bytes_of(text));
  (void)a.next();
  EXPECT_EQ(a.forget(), 2u);
  a.push(bytes_of("z"));
  connect(a, b);
  EXPECT_EQ(carry(a, b), Edge::Arrival::fresh);
}

TEST(Edge, BoundsItsQueue) {
  Edge a({2, 10});
  EXPECT_TRUE(a.push(bytes_of("12345678")));
  EXPECT_FALSE(a.push(bytes_of("123")));
  EXPECT_TRUE(a.push(bytes_of("12")));
  EXPECT_FALSE(a.push({}));
}

// Random sends, deliveries, acknowledgements and breaks. Frames in flight on a connection are lost
// from some point on when it breaks, as with TCP.
class BreakingPair {
 public:
  explicit BreakingPair(std::uint64_t seed) : choice_({.seed = seed}) { connect(a_, b_); }
  void step() {
    switch (choice_.below(8)) {
      case 0:
      case 1:
        a_.push(bytes_of(std::to_string(sent_++)));
        break;
      case 2:
      case 3:
        if (const auto message = a_.next())
          on_way_.emplace_back(message->number, text_of(message->bytes));
        break;
      case 4:
      case 5:
        deliver();
        break;
      case 6:
        EXPECT_TRUE(a_.acknowledge(b_.acknowledgement()));
        break;
      default:
        if (choice_.below(4) == 0) break_connection();
    }
  }
  void finish() {
    break_connection();
    while (const auto message = a_.next())
      on_way_.emplace_back(message->number, text_of(message->bytes));
    while (!on_way_.empty()) deliver();
    ASSERT_EQ(arrived_.size(), sent_);
    for (std::size_t i = 0; i < sent_; ++i) EXPECT_EQ(arrived_[i], std::to_string(i));
  }

 private:
  void deliver() {
    if (on_way_.empty()) return;
    const auto [number, text] = on_way_.front();
    on_way_.pop_front();
    const auto arrival = b_.arrive(number);
    ASSERT_NE(arrival, Edge::Arrival::gap);
    if (arrival == Edge::Arrival::fresh) arrived_.push_back(text);
  }
  // The positions are exchanged before the old connection is dead: some frames still arrive.
  void break_connection() {
    const auto of_a = a_.position_for(2);
    const auto of_b = b_.position_for(1);
    for (std::uint32_t late = choice_.below(3); late > 0; --late) deliver();
    on_way_.clear();
    EXPECT_TRUE(a_.resume(2, {0, of_b.received, of_b.first}));
    EXPECT_TRUE(b_.resume(1, {0, of_a.received, of_a.first}));
  }

  Edge a_{generous}, b_{generous};
  Stream choice_;
  std::deque<std::pair<std::uint32_t, std::string>> on_way_;
  std::vector<std::string> arrived_;
  std::size_t sent_ = 0;
};

TEST(Edge, LosesNothingOverConnectionsThatBreak) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    BreakingPair pair(seed);
    for (int i = 0; i < 500; ++i) pair.step();
    pair.finish();
    if (HasFailure()) return;
  }
}

const Membership membership{{"test", 3}, 5, 77, {}};

std::optional<Refusal> refusal_of(const std::optional<Verdict>& verdict) {
  return verdict ? std::optional{verdict->refusal} : std::nullopt;
}
std::optional<Refusal> refusal_of(const Hello& hello, std::optional<MemberIndex> expected = {},
                                  const std::optional<Identity>& certified = {}) {
  Introduction introduction(membership, expected, false);
  return refusal_of(introduction.on_hello(hello, certified));
}

TEST(Introduction, TakesOnlyMembersOfTheClusterForWhoTheyAre) {
  const Hello good{.sender = 1, .receiver = 3, .incarnation = 5, .nonce = 6, .cluster = "test"};
  EXPECT_EQ(refusal_of(good), std::nullopt);
  EXPECT_EQ(refusal_of(good, 1, Identity{"test", 1}), std::nullopt);
  EXPECT_EQ(refusal_of(good, 2), Refusal::wrong_identity);
  EXPECT_EQ(refusal_of(good, {}, Identity{"test", 2}), Refusal::wrong_identity);
  EXPECT_EQ(refusal_of(good, {}, Identity{"toast", 1}), Refusal::foreign_cluster);
  Hello hello = good;
  hello.cluster = "toast";
  EXPECT_EQ(refusal_of(hello), Refusal::foreign_cluster);
  hello = good;
  hello.receiver = 4;
  EXPECT_EQ(refusal_of(hello), Refusal::wrong_identity);
  for (const MemberIndex sender : {3u, 5u, 0xffffffffu}) {
    hello = good;
    hello.sender = sender;
    EXPECT_EQ(refusal_of(hello), Refusal::wrong_identity);
  }
}

TEST(Introduction, TakesOnlyMembersWithTheSameListAndTimes) {
  const std::vector<Endpoint> list{{"a", 1}, {"b", 2}};
  const std::vector<Endpoint> longer{{"a", 1}, {"b", 2}, {"c", 3}};
  const std::vector<Endpoint> turned{{"b", 2}, {"a", 1}};
  Timing patient;
  patient.patience += std::chrono::milliseconds(1);
  Timing drifting;
  drifting.clock_drift = 0.02;
  const Timing shorter = timing_for(std::chrono::milliseconds(600));
  const std::vector<std::pair<Agreement, std::string>> cases{
      {agreement_on(list, Timing{}), ""},
      {agreement_on(longer, Timing{}), "its list has 3 members, ours 2"},
      {agreement_on(turned, Timing{}), "another address, or another order"},
      {agreement_on(list, shorter), "its lease_ms is 600, ours 3000"},
      {agreement_on(list, drifting), "its clock_drift is 20000 millionths, ours 10000"},
      {agreement_on(list, patient), "patience_ms"}};
  const Membership ours{{"test", 0}, 2, 77, agreement_on(list, Timing{})};
  for (const auto& [theirs, sentence] : cases) {
    Introduction introduction(ours, {}, false);
    EXPECT_EQ(introduction.hello(1).agreement, ours.agreement);
    const Hello hello{.sender = 1, .receiver = 0, .agreement = theirs, .cluster = "test"};
    const std::optional<Verdict> verdict = introduction.on_hello(hello, {});
    ASSERT_EQ(verdict.has_value(), !sentence.empty()) << sentence;
    if (!verdict) continue;
    EXPECT_EQ(verdict->refusal, Refusal::other_configuration);
    EXPECT_NE(verdict->sentence.find(sentence), std::string::npos) << verdict->sentence;
  }
}

TEST(Introduction, HasAnOrder) {
  const Hello good{.sender = 1, .receiver = 3, .incarnation = 5, .nonce = 6, .cluster = "test"};
  Introduction introduction(membership, {}, false);
  const Ready ready{.echo = introduction.hello(1).nonce};
  EXPECT_EQ(refusal_of(introduction.on_message()), Refusal::out_of_order);
  EXPECT_EQ(refusal_of(introduction.on_ready(ready)), Refusal::out_of_order);
  EXPECT_EQ(refusal_of(introduction.on_hello(good, {})), std::nullopt);
  EXPECT_EQ(refusal_of(introduction.on_hello(good, {})), Refusal::out_of_order);
  EXPECT_EQ(refusal_of(introduction.on_message()), Refusal::out_of_order);
  EXPECT_EQ(refusal_of(introduction.on_ready({.echo = ready.echo + 1})), Refusal::replayed);
  EXPECT_EQ(refusal_of(introduction.on_ready(ready)), std::nullopt);
  EXPECT_EQ(refusal_of(introduction.on_ready(ready)), Refusal::out_of_order);
  EXPECT_EQ(refusal_of(introduction.on_message()), std::nullopt);
}

TEST(LogLimit, WritesTwentyLinesOfAKindAndCountsTheOthers) {
  LogLimit limit;
  std::size_t written = 0;
  for (int i = 0; i < 36'451; ++i)
    written +=
        limit.take(std::chrono::milliseconds(i / 10), fmt::format("127.0.0.1:{}: eof", i)).size();
  EXPECT_EQ(written, 20u);
  EXPECT_EQ(limit.take(std::chrono::seconds(4), "another line").size(), 1u);
  const auto later = limit.take(std::chrono::seconds(20), "another line");
  ASSERT_EQ(later.size(), 2u);
  EXPECT_EQ(later[0], "36431 more lines like this one within 20 s: 127.0.0.1:36450: eof");
  EXPECT_EQ(later[1], "another line");
}

TEST(LogLimit, KeepsABoundedNumberOfKinds) {
  LogLimit limit;
  std::size_t written = 0;
  for (int i = 0; i < 1000; ++i)
    written += limit
                   .take(std::chrono::seconds(1),
                         std::string(static_cast<std::size_t>(i % 150), 'x') + "y" +
                             std::string(static_cast<std::size_t>(i / 150), 'z'))
                   .size();
  EXPECT_LT(written, 100u);
}

}  // namespace
}  // namespace conclave::election::detail
