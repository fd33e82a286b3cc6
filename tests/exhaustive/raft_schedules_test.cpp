// Every schedule of Raft's election with a few terms, and what it means that a schedule decides
// when timers run out.
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/model/protocol_info.hpp"
#include "conclave/protocols/message/raft_election.hpp"
#include "conclave/schedules/asynchronous.hpp"
#include "conclave/schedules/search.hpp"

#include "tests/mutants/broken_raft.hpp"

namespace conclave::tests {
namespace {

using protocols::RaftElection;
using protocols::RaftLogs;
using protocols::RaftRedraw;
using schedules::SearchResult;

enum : std::size_t { one_per_term, one_in_the_end, right_one, no_rule_broken, termination };
using Failing = std::set<std::size_t>;

template <MessageProtocol P>
SearchResult explore(const typename P::Parameters& parameters, std::size_t n) {
  const P protocol(parameters, n);
  const schedules::AsynchronousSchedules<P> system(protocol, n, true);
  return schedules::search(system, {.configurations = 4'000'000});
}

Failing failing(const SearchResult& result) {
  Failing numbers;
  for (std::size_t i = 0; i < result.verdicts.size(); ++i) {
    if (!result.verdicts[i].holds) numbers.insert(i);
  }
  return numbers;
}

TEST(RaftSchedules, ElectAtMostOneLeaderPerTerm) {
  using Parameters = RaftElection::Parameters;
  const std::vector<std::pair<std::size_t, Parameters>> cases{
      {1, {.terms = 2}},
      {2, {.terms = 3}},
      {2, {.down = 1, .terms = 3}},
      {2, {.logs = RaftLogs::different, .terms = 3}},
      {3, {.logs = RaftLogs::different, .terms = 1}},
      {3, {.terms = 2}},
      {3, {.redraw = RaftRedraw::once, .down = 2, .terms = 1}}};
  for (const auto& [n, parameters] : cases) {
    const SearchResult result = explore<RaftElection>(parameters, n);
    ASSERT_TRUE(result.is_complete) << n;
    EXPECT_GT(result.final_configurations, 0u);
    EXPECT_EQ(failing(result), Failing{}) << "n = " << n << ", terms " << *parameters.terms;
  }
}

TEST(RaftSchedules, FailOfWhatIsAlmostRight) {
  EXPECT_TRUE(failing(explore<VotesTwice>({.terms = 1}, 3)).contains(one_per_term));
  EXPECT_TRUE(failing(explore<CountsRefusals>({.terms = 1}, 2)).contains(one_per_term));
  EXPECT_TRUE(failing(explore<CountsOldVotes>({.terms = 2}, 3)).contains(one_per_term));
  EXPECT_TRUE(failing(explore<NeverStepsDown>({.terms = 2}, 3)).contains(one_in_the_end));
}

// Whoever's timer runs out first takes the office and tells all others: right if timers and
// messages keep to their times, and wrong if a schedule may choose.
struct FirstToRing {
  enum class Kind : std::uint8_t { leader };
  static constexpr std::array<std::string_view, 1> kinds{"LEADER"};
  static constexpr ProtocolInfo info{};
  static constexpr bool is_port_blind = true;
  using Parameters = NoParameters;

  struct Message {
    Kind kind = Kind::leader;
    Identifier id = 0;
    friend bool operator==(const Message&, const Message&) = default;
    static constexpr std::tuple fields{Field{"kind", &Message::kind}, Field{"id", &Message::id}};
  };
  struct Node {
    Identifier id = 0;
    Identifier leader = 0;
    Standing standing = Standing::asleep;
    friend bool operator==(const Node&, const Node&) = default;
    static constexpr std::tuple fields{Field{"id", &Node::id}, Field{"leader", &Node::leader},
                                       Field{"standing", &Node::standing}};
  };

  static std::string objection(const Parameters&, NodeCount) { return {}; }
  FirstToRing(const Parameters&, NodeCount) {}
  Node asleep(Identifier id) const { return {.id = id}; }
  NodeView view(const Node& node) const {
    return {.standing = node.standing, .is_informed = node.leader != 0, .id = node.id};
  }
  bool follows(const Node& node, const Node& leader) const { return node.leader == leader.id; }
  std::uint32_t bits(const Message&) const { return 8; }

  void on(Node& node, WakeUp, auto& effects, Choice auto& choice) const {
    node.standing = Standing::candidate;
    effects.set_timer([&](auto& coins) { return coins.below(0xffffffff); }, choice);
  }
  void on(Node& node, Timeout, auto& effects, Choice auto&) const {
    node.standing = Standing::elected;
    node.leader = node.id;
    effects.broadcast(Message{Kind::leader, node.id});
  }
  void on(Node& node, const Received<Message>& event, auto& effects, Choice auto&) const {
    if (node.leader != 0) return;
    node.standing = Standing::retired;
    node.leader = event.message.id;
    effects.cancel_timer();
  }
};
static_assert(HasTimer<FirstToRing>);

// One step per timer that is set, and no delay is drawn: there would be 2^32 outcomes.
TEST(TimerSchedules, MayLetAnyTimerRunOut) {
  const FirstToRing protocol({}, 2);
  const schedules::AsynchronousSchedules<FirstToRing> system(protocol, 2, true);
  const SearchResult result = schedules::search(system, {.configurations = 1000});
  ASSERT_TRUE(result.is_complete);
  EXPECT_EQ(failing(result), (Failing{one_per_term, one_in_the_end}));
  const auto steps = system.trace(result.verdicts[one_per_term].counterexample);
  ASSERT_EQ(steps.size(), 5u);
  EXPECT_EQ(steps[0].title, "node 0 is woken -> candidate");
  EXPECT_EQ(steps[1].title, "node 1 is woken -> candidate");
  EXPECT_EQ(steps[2].title, "node 0's timer runs out -> elected");
  EXPECT_EQ(steps[3].title, "node 1's timer runs out -> elected");
  ASSERT_EQ(steps[2].events.size(), 3u);  // it times out, is elected, and tells the other
  EXPECT_EQ(steps[2].events.front().kind, schedules::TraceEvent::Kind::timeout);
  EXPECT_EQ(steps[3].events.front().node, 1u);
}

// It is over only when no timer is set any more, and a timer that was cancelled does not run out.
TEST(TimerSchedules, EndWhenNoTimerIsSet) {
  const FirstToRing protocol({}, 2);
  const schedules::AsynchronousSchedules<FirstToRing> system(protocol, 2, true);
  auto now = system.beginning();
  const auto take = [&](std::size_t wanted) {
    std::size_t number = 0;
    auto after = now;
    system.for_each_step(now, [&](auto&& next) {
      if (number++ == wanted) after = next;
    });
    now = after;
    return number;
  };
  EXPECT_EQ(take(0), 2u);  // node 0 is woken
  EXPECT_EQ(system.violated(now), 0u);
  EXPECT_EQ(take(0), 2u);  // node 1 is woken; or node 0's timer
  EXPECT_EQ(take(0), 2u);  // node 0's timer runs out; or node 1's
  EXPECT_EQ(take(1), 2u);  // node 1 hears of it; or its timer
  EXPECT_EQ(take(0), 0u);  // all is over
  EXPECT_EQ(system.violated(now), 0u);
}

}  // namespace
}  // namespace conclave::tests
