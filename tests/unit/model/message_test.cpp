// The concepts of message passing, each with its archetype: a type that offers what the concept
// asks for and nothing more. What the archetype of a protocol lacks, no engine may use.
#include "conclave/model/message.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

#include <gtest/gtest.h>

#include "conclave/model/protocol_info.hpp"
#include "conclave/network/asynchronous.hpp"
#include "conclave/network/synchronous.hpp"
#include "conclave/network/wakeups.hpp"

namespace conclave {
namespace {

// Whoever is woken shouts its identifier; the node that hears of none larger would lead. It only
// counts what it hears.
struct Shout {
  enum class Kind : std::uint8_t { shout };
  static constexpr std::array<std::string_view, 1> kinds{"SHOUT"};
  static constexpr ProtocolInfo info{};

  struct Message {
    Kind kind = Kind::shout;
    Identifier id = 0;
    friend bool operator==(const Message&, const Message&) = default;
    static constexpr std::tuple fields{Field{"kind", &Message::kind}, Field{"id", &Message::id}};
  };
  struct Node {
    Identifier id = 0;
    std::uint32_t heard = 0;
    bool awake = false;
    friend bool operator==(const Node&, const Node&) = default;
    static constexpr std::tuple fields{Field{"id", &Node::id}, Field{"heard", &Node::heard},
                                       Field{"awake", &Node::awake}};
  };
  using Parameters = NoParameters;

  static std::string objection(const Parameters&, NodeCount) { return {}; }
  Shout(const Parameters&, NodeCount) {}

  Node asleep(Identifier id) const { return {.id = id}; }
  NodeView view(const Node& node) const {
    return {.standing = node.awake ? Standing::retired : Standing::asleep, .phase = node.heard};
  }
  std::uint32_t bits(const Message&) const { return 8; }

  void on(Node& node, WakeUp, auto& effects, Choice auto&) const {
    node.awake = true;
    effects.broadcast(Message{Kind::shout, node.id});
  }
  void on(Node& node, const Received<Message>&, auto&, Choice auto&) const {
    node.awake = true;
    ++node.heard;
  }
};
static_assert(AsynchronousProtocol<Shout>);
static_assert(!SynchronousProtocol<Shout>);
static_assert(!PortBlind<Shout>);

struct ShoutInRounds : Shout {
  using Shout::Shout;
  void on(Node& node, WakeUp event, auto& effects, Choice auto& choice) const {
    Shout::on(node, event, effects, choice);
  }
  void on(Node& node, const Round<Message>& round, auto&, Choice auto&) const {
    node.awake = true;
    node.heard += static_cast<std::uint32_t>(round.inbox.size());
  }
};
static_assert(SynchronousProtocol<ShoutInRounds>);
static_assert(EffectsOf<AnyEffects<Shout::Message>, Shout::Message>);
static_assert(TimedEffectsOf<AnyEffects<Shout::Message>, Shout::Message>);
static_assert(!HasTimer<Shout>);
static_assert(!HasTerms<Shout>);
static_assert(!KeepsRecord<Shout>);

const auto always = [](Interactions) { return true; };

TEST(AsynchronousNetwork, RunsItsArchetype) {
  constexpr NodeCount n = 9;
  network::All wakeup(n, {});
  network::Asynchronous<Shout, network::ConstantTransit> network(Shout({}, n), n, {}, nullptr,
                                                                 wakeup);
  const TrialResult result = network.run(always);
  EXPECT_EQ(result.interactions, Interactions(n * (n - 1)));
  EXPECT_EQ(result.network->most_on_an_edge, 2u);
  EXPECT_EQ(result.network->by_kind.front().kind, "SHOUT");
  for (network::NodeIndex node = 0; node < n; ++node) {
    EXPECT_EQ(network.state().state(node).heard, n - 1);
  }
}

TEST(SynchronousNetwork, RunsItsArchetype) {
  constexpr NodeCount n = 9;
  network::One wakeup(n, {});
  network::Synchronous<ShoutInRounds> network(ShoutInRounds({}, n), n, {}, wakeup);
  const TrialResult result = network.run(always);
  EXPECT_EQ(result.interactions, Interactions(n - 1));
  EXPECT_EQ(result.network->rounds, 1u);
  EXPECT_EQ(result.network->time, 0);
}

TEST(SynchronousNetwork, CanBeInterruptedWithinARound) {
  constexpr NodeCount n = 5000;
  network::One wakeup(n, {});
  network::Synchronous<ShoutInRounds> network(ShoutInRounds({}, n), n, {}, wakeup);
  int questions = 0;
  const TrialResult result = network.run([&](const Moment&) { return ++questions < 4; });
  EXPECT_EQ(result.ending, Ending::interrupted);
  EXPECT_FALSE(result.network.has_value());
  EXPECT_EQ(questions, 4);
  EXPECT_FALSE(network.state().is_touched(n - 1));  // the round was not played to its end
}

TEST(Message, OfTheArchetypeIsRegular) {
  const Shout::Message message{Shout::Kind::shout, 7};
  EXPECT_EQ(message, Shout::Message(message));
  EXPECT_NE(message, Shout::Message{});
}

TEST(NodeView, IsOrderedByPhaseThenRankThenIdentifier) {
  const NodeView low{.phase = 1, .rank = 9, .id = 9};
  EXPECT_TRUE(is_ahead({.phase = 2, .rank = 1}, low));
  EXPECT_TRUE(is_ahead({.phase = 1, .rank = 10, .id = 1}, low));
  EXPECT_TRUE(is_ahead({.phase = 1, .rank = 9, .id = 10}, low));
  EXPECT_FALSE(is_ahead(low, low));
}

}  // namespace
}  // namespace conclave
