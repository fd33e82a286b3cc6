// The oldest way to elect in a complete network, as old as Le Lann: Distributed systems, towards a
// formal approach. IFIP Congress 1977. Every node sends its identifier to all others; the highest
// leads. Exactly n (n - 1) messages, whatever the delays, and at most one unit of time after the
// last node has entered: the price of being as fast as possible.
//
// A node enters when it is woken or gets the first message, and tells its identifier to all others.
// A node that has heard all n - 1 others knows the leader.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

#include "conclave/model/message.hpp"
#include "conclave/model/protocol_info.hpp"

namespace conclave::protocols {

class Flooding {
 public:
  enum class Kind : std::uint8_t { identifier };
  static constexpr std::array<std::string_view, 1> kinds{"IDENTIFIER"};

  struct Message {
    Kind kind = Kind::identifier;
    Identifier id = 0;

    friend bool operator==(const Message&, const Message&) = default;
    static constexpr std::tuple fields{Field{"kind", &Message::kind}, Field{"id", &Message::id}};
  };

  struct Node {
    Identifier id = 0;
    Identifier highest = 0;     // of those heard of, its own included
    std::uint32_t awaited = 0;  // nodes not heard of yet
    Standing standing = Standing::asleep;

    friend bool operator==(const Node&, const Node&) = default;
    static constexpr std::tuple fields{Field{"standing", &Node::standing}, Field{"id", &Node::id},
                                       Field{"highest", &Node::highest},
                                       Field{"awaited", &Node::awaited}};
  };

  using Parameters = NoParameters;

  static constexpr std::array variables{
      Variable{"highest", "identifier", "the highest received"},
      Variable{"awaited", "0 ... n-1", "nodes whose identifier is missing"},
  };
  static constexpr std::array steps{
      PseudocodeStep{"wake-up", "the node enters and sends its identifier to all"},
      PseudocodeStep{"IDENTIFIER",
                     "a node that slept enters first; it keeps the highest identifier received, "
                     "and after n - 1 of them it knows the leader"},
  };
  static constexpr ProtocolInfo info{
      .name = "flooding",
      .title = "all nodes send all others their identifier: fastest, and n (n - 1) messages",
      .paper = "after G. Le Lann: Distributed systems - towards a formal approach. IFIP Congress, "
               "1977",
      .source = Source::reconstructed,
      .version = "general knowledge of the algorithm",
      .network = "complete, asynchronous",
      .convergence = "quiescence with exactly one node elected and all n informed",
      .bound = "n (n - 1) msgs, O(1) time",
      .states = "16 bytes",
      .demo_n = 1'000,
      .smallest_n = 1,
      .variables = variables,
      .observables = {},
      .errata = {},
      .steps = steps,
  };
  static constexpr bool is_port_blind = true;
  static constexpr bool needs_identifiers = true;

  static std::string objection(const Parameters&, NodeCount n) {
    if (n <= most_nodes) return {};
    return "n = " + std::to_string(n) + ": flooding sends n (n - 1) messages, and is run with at " +
           "most " + std::to_string(most_nodes) + " nodes";
  }

  Flooding(const Parameters&, NodeCount n) : n_(n) {}

  Node asleep(Identifier id) const { return {.id = id}; }

  void on(Node& node, WakeUp, auto& effects, Choice auto&) const {
    if (node.standing == Standing::asleep) enter(node, effects);
  }

  void on(Node& node, const Received<Message>& event, auto& effects, Choice auto&) const {
    if (node.standing == Standing::asleep) enter(node, effects);
    node.highest = std::max(node.highest, event.message.id);
    --node.awaited;
    conclude(node);
  }

  NodeView view(const Node& node) const {
    return {.standing = node.standing,
            .is_informed = node.standing != Standing::asleep && node.awaited == 0,
            .phase = node.standing == Standing::asleep ? 0u : 1u,
            .rank = 0,
            .id = node.id,
            .awaited = node.awaited};
  }

  bool follows(const Node& node, const Node& leader) const { return node.highest == leader.id; }

  std::uint32_t bits(const Message&) const {
    return static_cast<std::uint32_t>(std::bit_width(n_));
  }

 private:
  static constexpr NodeCount most_nodes = 5'000;

  void enter(Node& node, auto& effects) const {
    node.standing = Standing::candidate;
    node.highest = node.id;
    node.awaited = static_cast<std::uint32_t>(n_ - 1);
    if (n_ > 1) effects.broadcast(Message{Kind::identifier, node.id});
    conclude(node);
  }

  static void conclude(Node& node) {
    if (node.highest > node.id) node.standing = Standing::retired;
    if (node.awaited == 0 && node.highest == node.id) node.standing = Standing::elected;
  }

  NodeCount n_;
};
static_assert(AsynchronousProtocol<Flooding>);
static_assert(PortBlind<Flooding>);

}  // namespace conclave::protocols
