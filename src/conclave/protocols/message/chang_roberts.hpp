// Chang, Roberts: An improved algorithm for decentralized extrema-finding in circular
// configurations of processes. Communications of the ACM 22(5), 1979. The first election that every
// lecture shows; written from general knowledge of it.
//
// A node that is woken sends its identifier along a directed ring. A node passes on what is higher
// than its own identifier and swallows what is lower; whoever gets its own identifier back is
// elected.
//
//   IDENTIFIER (i)    on its way round, until a node with a higher identifier swallows it
//   LEADER (i)        once round, when everything is decided
//
// With all nodes awake, IDENTIFIER is sent n H_n times in the mean over all orders of the
// identifiers (H_n = 1 + 1/2 + ... + 1/n), 2 n - 1 times at best and n (n + 1) / 2 times at worst,
// whatever the delays.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

#include "conclave/model/message.hpp"
#include "conclave/model/protocol_info.hpp"
#include "conclave/protocols/message/detail/ring_common.hpp"

namespace conclave::protocols {

class ChangRoberts {
 public:
  enum class Kind : std::uint8_t { identifier, leader };
  static constexpr std::array<std::string_view, 2> kinds{"IDENTIFIER", "LEADER"};

  struct Message {
    Kind kind = Kind::identifier;
    Identifier id = 0;

    friend bool operator==(const Message&, const Message&) = default;
    static constexpr std::tuple fields{Field{"kind", &Message::kind}, Field{"id", &Message::id}};
  };

  struct Node {
    Identifier id = 0;
    Identifier leader = 0;  // 0: not known
    Standing standing = Standing::asleep;
    bool competes = false;  // it has sent its identifier, and swallows lower ones

    friend bool operator==(const Node&, const Node&) = default;
    static constexpr std::tuple fields{Field{"standing", &Node::standing}, Field{"id", &Node::id},
                                       Field{"leader", &Node::leader},
                                       Field{"competes", &Node::competes}};
  };

  using Parameters = NoParameters;

  static constexpr std::array variables{
      Variable{"standing", "asleep, candidate, retired, elected", "the output"},
      Variable{"leader", "identifier", "the leader, once it is known"},
  };
  static constexpr std::array errata{
      Erratum{"R1", "announcement", detail::ring_announcement},
      Erratum{"R2", "sleepers", detail::ring_sleepers},
  };
  static constexpr std::array steps{
      PseudocodeStep{"wake-up", "the node sends its identifier to the next one"},
      PseudocodeStep{
          "IDENTIFIER",
          "a candidate swallows what is lower than its own and wins when its own comes back; "
          "all else is passed on"},
      PseudocodeStep{"LEADER", "the node notes the leader and passes the message on"},
  };
  static constexpr ProtocolInfo info{
      .name = "chang-roberts",
      .title =
          "identifiers travel round a ring, lower ones are swallowed: n H_n messages in the mean",
      .paper = "E. Chang, R. Roberts: An improved algorithm for decentralized extrema-finding in "
               "circular configurations of processes. CACM 22(5), 1979",
      .source = Source::reconstructed,
      .version = "general knowledge of the algorithm",
      .network = "directed ring, asynchronous",
      .convergence = detail::ring_convergence,
      .bound = "n H_n msgs, O(n) time",
      .states = "12 bytes",
      .demo_n = 20'000,
      .smallest_n = 2,
      .variables = variables,
      .observables = {},
      .errata = errata,
      .steps = steps,
  };
  static constexpr Topology topology = Topology::directed_ring;
  static constexpr bool needs_identifiers = true;

  static std::string objection(const Parameters&, NodeCount) { return {}; }

  ChangRoberts(const Parameters&, NodeCount n) : n_(n) {}

  Node asleep(Identifier id) const { return {.id = id}; }

  void on(Node& node, WakeUp, auto& effects, Choice auto&) const {
    if (node.standing != Standing::asleep) return;
    node.standing = Standing::candidate;
    node.competes = true;
    effects.send(onwards, Message{Kind::identifier, node.id});
  }

  void on(Node& node, const Received<Message>& event, auto& effects, Choice auto&) const {
    if (node.leader != 0) return;
    const Message& message = event.message;
    if (message.kind == Kind::leader) return learn(node, message.id, effects);
    if (node.competes && message.id == node.id) return win(node, effects);
    if (node.competes && message.id < node.id) return;
    node.standing = Standing::retired;
    effects.send(onwards, message);
  }

  NodeView view(const Node& node) const {
    return {.standing = node.standing,
            .is_informed = node.leader != 0,
            .phase = node.standing == Standing::asleep ? 0u : 1u,
            .rank = 0,
            .id = node.id,
            .awaited = node.standing == Standing::candidate ? 1u : 0u};
  }

  bool follows(const Node& node, const Node& leader) const { return node.leader == leader.id; }

  std::uint32_t bits(const Message&) const { return 1 + detail::identifier_bits(n_); }

 private:
  static constexpr Port onwards = 0;

  static void win(Node& node, auto& effects) {
    node.standing = Standing::elected;
    node.leader = node.id;
    effects.send(onwards, Message{Kind::leader, node.id});
  }

  static void learn(Node& node, Identifier leader, auto& effects) {
    node.standing = Standing::retired;
    node.leader = leader;
    effects.send(onwards, Message{Kind::leader, leader});
  }

  NodeCount n_;
};
static_assert(AsynchronousProtocol<ChangRoberts>);

}  // namespace conclave::protocols
