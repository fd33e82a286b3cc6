// Flooding with the maximum, on any graph: the classic of lectures on synchronous networks, also
// known as FloodMax. Written from general knowledge of it.
//
// All nodes start in the same round and know the graph's diameter D or a bound on it. For D rounds
// every node tells its neighbours the highest identifier it has heard of; after that all have heard
// of the highest, and its owner is elected. One message per arc and round, D times the arcs of the
// graph in all; with sending=news a node is silent in rounds after it has heard of no higher one.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "conclave/model/message.hpp"
#include "conclave/model/protocol_info.hpp"
#include "conclave/protocols/message/detail/ring_common.hpp"

namespace conclave::protocols {

// Values of the parameter `sending`.
enum class FloodSending : std::uint8_t { always, news };

class FloodMax {
 public:
  enum class Kind : std::uint8_t { highest };
  static constexpr std::array<std::string_view, 1> kinds{"HIGHEST"};

  struct Message {
    Kind kind = Kind::highest;
    Identifier id = 0;

    friend bool operator==(const Message&, const Message&) = default;
    static constexpr std::tuple fields{Field{"kind", &Message::kind}, Field{"id", &Message::id}};
  };

  struct Node {
    Identifier id = 0;
    Identifier highest = 0;    // heard of so far, its own included
    std::uint32_t rounds = 0;  // since the start
    Standing standing = Standing::asleep;

    friend bool operator==(const Node&, const Node&) = default;
    static constexpr std::tuple fields{Field{"standing", &Node::standing}, Field{"id", &Node::id},
                                       Field{"highest", &Node::highest},
                                       Field{"rounds", &Node::rounds}};
  };

  struct Parameters {
    std::optional<std::uint64_t> diameter{};
    FloodSending sending = FloodSending::always;

    static constexpr std::tuple fields{
        Parameter{"diameter", &Parameters::diameter, "rounds before the decision",
                  "that of the graph", 0, 0xffffffff},
        Parameter{"sending", &Parameters::sending, "in every round, or news only", "always"}};
  };

  static constexpr std::array variables{
      Variable{"standing", "asleep, candidate, retired, elected", "the output"},
      Variable{"highest", "identifier", "the highest received"},
      Variable{"rounds", "0 ... diameter", "since wake-up"},
  };
  static constexpr std::array steps{
      PseudocodeStep{"wake-up", "the node is a candidate and knows its own identifier only"},
      PseudocodeStep{"HIGHEST",
                     "of all that arrive in a round the node keeps the highest and sends it to its "
                     "neighbours; after D rounds its owner is elected"},
  };
  static constexpr ProtocolInfo info{
      .name = "flood-max",
      .title = "everybody repeats the highest identifier received, as many rounds as the diameter",
      .paper = "folklore; FloodMax in N. A. Lynch: Distributed algorithms. Morgan Kaufmann, 1996",
      .source = Source::reconstructed,
      .version = "general knowledge of the algorithm",
      .network = "any graph, synchronous",
      .convergence = detail::ring_convergence,
      .bound = "D arcs msgs, D rounds",
      .states = "16 bytes",
      .demo_n = 500,
      .smallest_n = 1,
      .variables = variables,
      .observables = {},
      .errata = {},
      .steps = steps,
  };
  static constexpr Topology topology = Topology::any;
  static constexpr bool needs_identifiers = true;
  static constexpr bool starts_together = true;

  static std::string objection(const Parameters&, NodeCount) { return {}; }

  // Without a diameter, that of a directed ring, the largest there is.
  FloodMax(const Parameters& parameters, NodeCount n)
      : n_(n),
        diameter_(static_cast<std::uint32_t>(parameters.diameter.value_or(n - 1))),
        sending_(parameters.sending) {}

  std::uint32_t most_rounds() const { return diameter_; }

  Node asleep(Identifier id) const { return {.id = id}; }

  void on(Node& node, WakeUp, auto&, Choice auto&) const {
    if (node.standing == Standing::asleep) node.standing = Standing::candidate;
  }

  void on(Node& node, const Round<Message>& round, auto& effects, Choice auto&) const {
    if (node.standing != Standing::candidate) return;
    const Identifier before = node.highest;
    node.highest = std::max(node.highest, node.id);
    for (const auto& received : round.inbox) {
      node.highest = std::max(node.highest, received.message.id);
    }
    if (node.rounds++ == diameter_) {
      node.standing = node.highest == node.id ? Standing::elected : Standing::retired;
    } else if (sending_ == FloodSending::always || node.highest != before) {
      effects.broadcast(Message{Kind::highest, node.highest});
    }
  }

  NodeView view(const Node& node) const {
    return {.standing = node.standing,
            .is_informed = node.standing == Standing::elected || node.standing == Standing::retired,
            .phase = node.standing == Standing::asleep ? 0u : 1u,
            .rank = node.highest,
            .id = node.id,
            .awaited = 0};
  }

  bool follows(const Node& node, const Node& leader) const { return node.highest == leader.id; }

  std::uint32_t bits(const Message&) const { return detail::identifier_bits(n_); }

 private:
  NodeCount n_;
  std::uint32_t diameter_;
  FloodSending sending_;
};
static_assert(SynchronousProtocol<FloodMax>);

}  // namespace conclave::protocols

template <>
inline constexpr std::array<std::string_view, 2>
    conclave::names_of<conclave::protocols::FloodSending>{"always", "news"};
