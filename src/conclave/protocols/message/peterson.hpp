// Peterson: An O(n log n) unidirectional algorithm for the circular extrema problem. ACM
// Transactions on Programming Languages and Systems 4(4), 1982; the basic algorithm. Dolev, Klawe
// and Rodeh found the same in the same year. Written from general knowledge of it.
//
// An active node holds a value, at first its identifier. In a phase it learns the values of the two
// active nodes before it on a directed ring, and goes on with the value of the nearer one if that
// is a local maximum; otherwise it becomes a relay. At most half of the active nodes survive a
// phase.
//
//   FIRST (v)     an active node tells its value to the next active one,
//   SECOND (v)    which tells the larger of that and its own to the next
//   LEADER (i)    who gets its own value is alone; it tells everybody its identifier
//
// Edges must be FIFO. All but the last phase cost 2 n messages, the last one n: at most
// 2 n floor(log2 n) + n with all nodes awake. The node elected holds the highest identifier as its
// value; it is seldom the node that has it.
#pragma once

#include <algorithm>
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

class Peterson {
 public:
  enum class Kind : std::uint8_t { first, second, leader };
  static constexpr std::array<std::string_view, 3> kinds{"FIRST", "SECOND", "LEADER"};

  struct Message {
    Kind kind = Kind::first;
    Identifier value = 0;

    friend bool operator==(const Message&, const Message&) = default;
    static constexpr std::tuple fields{Field{"kind", &Message::kind},
                                       Field{"value", &Message::value}};
  };

  struct Node {
    Identifier id = 0;
    Identifier value = 0;    // as an active node
    Identifier nearest = 0;  // the value of the active node before it; 0: not known in this phase
    Identifier leader = 0;   // 0: not known
    std::uint32_t phase = 0;
    Standing standing = Standing::asleep;  // an active node is a candidate

    friend bool operator==(const Node&, const Node&) = default;
    static constexpr std::tuple fields{
        Field{"standing", &Node::standing}, Field{"id", &Node::id},
        Field{"value", &Node::value},       Field{"nearest", &Node::nearest},
        Field{"leader", &Node::leader},     Field{"phase", &Node::phase}};
  };

  using Parameters = NoParameters;

  static constexpr std::array variables{
      Variable{"standing", "asleep, candidate, retired, elected",
               "candidate: active; retired: relay"},
      Variable{"value", "identifier", "of an active node: the identifier it stands for"},
      Variable{"nearest", "identifier", "of an active node: the value of the one before it"},
      Variable{"phase", "1 ... 1 + log2 n", "of an active node"},
  };
  static constexpr std::array errata{
      Erratum{"R1", "announcement", detail::ring_announcement},
      Erratum{"R2", "sleepers", detail::ring_sleepers},
      Erratum{"R3", "the leader",
              "the node that gets its own value is elected; it stands for the highest identifier, "
              "which is another node's"},
  };
  static constexpr std::array steps{
      PseudocodeStep{"wake-up", "the node is active and sends its identifier as its first value"},
      PseudocodeStep{
          "FIRST",
          "an active node that gets its own value is alone and wins; otherwise it sends on the "
          "larger of the two; a relay passes it on"},
      PseudocodeStep{
          "SECOND",
          "an active node goes on with the first value if neither its own nor this one is larger; "
          "otherwise it becomes a relay"},
      PseudocodeStep{"LEADER", "the node notes the leader and passes the message on"},
  };
  static constexpr ProtocolInfo info{
      .name = "peterson",
      .title = "active nodes of a ring compare with two before them: at most half survive a phase",
      .paper = "G. L. Peterson: An O(n log n) unidirectional algorithm for the circular extrema "
               "problem. ACM TOPLAS 4(4), 1982",
      .source = Source::reconstructed,
      .version =
          "general knowledge of the basic algorithm, also of D. Dolev, M. Klawe, M. Rodeh 1982",
      .network = "directed ring, asynchronous",
      .convergence = detail::ring_convergence,
      .bound = "2 n log2 n + n msgs, O(n) time",
      .states = "24 bytes",
      .demo_n = 100'000,
      .smallest_n = 2,
      .variables = variables,
      .observables = {},
      .errata = errata,
      .steps = steps,
  };
  static constexpr Topology topology = Topology::directed_ring;
  static constexpr bool needs_identifiers = true;

  static std::string objection(const Parameters&, NodeCount) { return {}; }

  Peterson(const Parameters&, NodeCount n) : n_(n) {}

  Node asleep(Identifier id) const { return {.id = id}; }

  void on(Node& node, WakeUp, auto& effects, Choice auto&) const {
    if (node.standing != Standing::asleep) return;
    node.standing = Standing::candidate;
    begin_phase(node, node.id, effects);
  }

  void on(Node& node, const Received<Message>& event, auto& effects, Choice auto&) const {
    if (node.leader != 0) return;
    if (node.standing == Standing::asleep) node.standing = Standing::retired;
    const Message& message = event.message;
    if (message.kind == Kind::leader) {
      node.standing = Standing::retired;
      node.leader = message.value;
    }
    if (node.standing == Standing::retired) return effects.send(onwards, message);
    if (message.kind == Kind::first) return on_first(node, message.value, effects);
    on_second(node, message.value, effects);
  }

  NodeView view(const Node& node) const {
    return {.standing = node.standing,
            .is_informed = node.leader != 0,
            .phase = node.phase,
            .rank = node.value,
            .id = node.id,
            .awaited = node.standing == Standing::candidate ? 1u : 0u};
  }

  bool follows(const Node& node, const Node& leader) const { return node.leader == leader.id; }

  std::uint32_t bits(const Message&) const { return 2 + detail::identifier_bits(n_); }

 private:
  static constexpr Port onwards = 0;

  static void begin_phase(Node& node, Identifier value, auto& effects) {
    node.value = value;
    node.nearest = 0;
    ++node.phase;
    effects.send(onwards, Message{Kind::first, value});
  }

  static void on_first(Node& node, Identifier value, auto& effects) {
    if (value == node.value) {
      node.standing = Standing::elected;
      node.leader = node.id;
      return effects.send(onwards, Message{Kind::leader, node.id});
    }
    node.nearest = value;
    effects.send(onwards, Message{Kind::second, std::max(value, node.value)});
  }

  // `second` is the larger of the nearest value and the one before that.
  static void on_second(Node& node, Identifier second, auto& effects) {
    if (node.nearest >= std::max(node.value, second)) {
      return begin_phase(node, node.nearest, effects);
    }
    node.standing = Standing::retired;
  }

  NodeCount n_;
};
static_assert(AsynchronousProtocol<Peterson>);

}  // namespace conclave::protocols
