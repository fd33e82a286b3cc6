// Hirschberg, Sinclair: Decentralized extrema-finding in circular configurations of processors.
// Communications of the ACM 23(11), 1980. Written after summaries of it.
//
// A candidate explores its surroundings on an undirected ring, 1, 2, 4, ... nodes far in both
// directions, and goes on as long as it meets no higher identifier.
//
//   PROBE (i, h)   with h nodes to go; a node with a higher identifier swallows it
//   REPLY (i)      from the last node; after two of them the candidate's next phase begins
//   LEADER (i)     from a candidate whose probes come home on both sides: it is alone
//
// Two candidates of phase k are more than 2^(k-1) nodes apart, so that phase k costs at most
// 4 2^k n / (2^(k-1) + 1) messages: 8 n (1 + ceil(log2 n)) in all.
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

class HirschbergSinclair {
 public:
  enum class Kind : std::uint8_t { probe, reply, leader };
  static constexpr std::array<std::string_view, 3> kinds{"PROBE", "REPLY", "LEADER"};

  struct Message {
    Kind kind = Kind::probe;
    Identifier id = 0;
    std::uint32_t hops = 0;  // of a probe: nodes to go, the receiver included

    friend bool operator==(const Message&, const Message&) = default;
    static constexpr std::tuple fields{Field{"kind", &Message::kind}, Field{"id", &Message::id},
                                       Field{"hops", &Message::hops}};
  };

  struct Node {
    Identifier id = 0;
    Identifier leader = 0;   // 0: not known
    std::uint8_t phase = 0;  // of a candidate: it explores 2^(phase - 1) nodes
    std::uint8_t back = 0;   // replies, or probes that have come home, in this phase
    bool competes = false;   // it has been woken, and swallows lower identifiers
    Standing standing = Standing::asleep;

    friend bool operator==(const Node&, const Node&) = default;
    static constexpr std::tuple fields{
        Field{"standing", &Node::standing}, Field{"id", &Node::id},
        Field{"leader", &Node::leader},     Field{"phase", &Node::phase},
        Field{"back", &Node::back},         Field{"competes", &Node::competes}};
  };

  using Parameters = NoParameters;

  static constexpr std::array variables{
      Variable{"standing", "asleep, candidate, retired, elected", "the output"},
      Variable{"phase", "1 ... 2 + log2 n", "of a candidate: it explores 2^(phase - 1) nodes"},
      Variable{"back", "0, 1, 2", "of a candidate: sides that have answered in this phase"},
      Variable{"leader", "identifier", "the leader, once it is known"},
  };
  static constexpr std::array errata{
      Erratum{"R1", "announcement", detail::ring_announcement},
      Erratum{"R2", "sleepers", detail::ring_sleepers},
      Erratum{"R3", "the last phase",
              "a candidate is elected when its probes have come home on both sides, so that "
              "nothing of it is under way when it announces itself"},
      Erratum{"R4", "defeated candidates",
              "one that has received a higher identifier begins no further phase"},
  };
  static constexpr std::array steps{
      PseudocodeStep{"wake-up", "the node begins its first phase: it sends probes both ways"},
      PseudocodeStep{
          "PROBE",
          "a node with a higher identifier swallows it; the last node of its way answers; a "
          "candidate that gets its own on both sides is alone and wins; all else is passed on"},
      PseudocodeStep{
          "REPLY",
          "passed on to its candidate, which begins the next phase, twice as far, with the "
          "second of them"},
      PseudocodeStep{"LEADER", "the node notes the leader and passes the message on"},
  };
  static constexpr ProtocolInfo info{
      .name = "hirschberg-sinclair",
      .title =
          "candidates explore a ring both ways, twice as far in each phase: O(n log n) messages",
      .paper = "D. S. Hirschberg, J. B. Sinclair: Decentralized extrema-finding in circular "
               "configurations of processors. CACM 23(11), 1980",
      .source = Source::second_hand,
      .version = "as summaries describe it",
      .network = "undirected ring, asynchronous",
      .convergence = detail::ring_convergence,
      .bound = "8 n (1 + log2 n) msgs, O(n) time",
      .states = "12 bytes",
      .demo_n = 20'000,
      .smallest_n = 3,
      .variables = variables,
      .observables = {},
      .errata = errata,
      .steps = steps,
  };
  static constexpr Topology topology = Topology::undirected_ring;
  static constexpr bool needs_identifiers = true;

  static std::string objection(const Parameters&, NodeCount n) {
    if (n <= most_nodes) return {};
    return "n = " + std::to_string(n) + ": hirschberg-sinclair counts hops up to 2^31";
  }

  HirschbergSinclair(const Parameters&, NodeCount n) : n_(n) {}

  Node asleep(Identifier id) const { return {.id = id}; }

  void on(Node& node, WakeUp, auto& effects, Choice auto&) const {
    if (node.standing != Standing::asleep) return;
    node.standing = Standing::candidate;
    node.competes = true;
    begin_phase(node, effects);
  }

  void on(Node& node, const Received<Message>& event, auto& effects, Choice auto&) const {
    if (node.leader != 0) return;
    if (node.standing == Standing::asleep) node.standing = Standing::retired;
    const Port across = 1 - event.port;
    const Message& message = event.message;
    switch (message.kind) {
      case Kind::probe:
        return on_probe(node, event.port, message, effects);
      case Kind::reply:
        if (message.id != node.id) return effects.send(across, message);
        if (hears_second(node)) begin_phase(node, effects);
        return;
      case Kind::leader:
        node.standing = Standing::retired;
        node.leader = message.id;
        effects.send(across, message);
    }
  }

  NodeView view(const Node& node) const {
    return {.standing = node.standing,
            .is_informed = node.leader != 0,
            .phase = node.phase,
            .rank = 0,
            .id = node.id,
            .awaited = node.standing == Standing::candidate ? 2u - node.back : 0u};
  }

  bool follows(const Node& node, const Node& leader) const { return node.leader == leader.id; }

  std::uint32_t bits(const Message& message) const {
    return 2 + detail::identifier_bits(n_) + (message.hops == 0 ? 0 : detail::identifier_bits(n_));
  }

 private:
  static constexpr NodeCount most_nodes = NodeCount{1} << 30;

  static void begin_phase(Node& node, auto& effects) {
    node.back = 0;
    ++node.phase;
    effects.broadcast(Message{Kind::probe, node.id, std::uint32_t{1} << (node.phase - 1)});
  }

  // Whether a candidate has now heard from both sides.
  static bool hears_second(Node& node) {
    if (node.standing != Standing::candidate) return false;
    return ++node.back == 2;
  }

  static void on_probe(Node& node, Port from, const Message& probe, auto& effects) {
    if (node.competes && probe.id == node.id) {
      if (hears_second(node)) win(node, effects);
      return;
    }
    if (node.competes && probe.id < node.id) return;
    node.standing = Standing::retired;
    if (probe.hops == 1) return effects.send(from, Message{Kind::reply, probe.id, 0});
    effects.send(1 - from, Message{Kind::probe, probe.id, probe.hops - 1});
  }

  static void win(Node& node, auto& effects) {
    node.standing = Standing::elected;
    node.leader = node.id;
    effects.send(0, Message{Kind::leader, node.id, 0});
  }

  NodeCount n_;
};
static_assert(AsynchronousProtocol<HirschbergSinclair>);

}  // namespace conclave::protocols
