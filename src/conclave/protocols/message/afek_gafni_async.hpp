// Afek, Gafni: Time and message bounds for election in synchronous and asynchronous complete
// networks. SIAM Journal on Computing 20(2), 1991. The asynchronous algorithm, O(n log n) messages
// and O(n) time; written after its well-known description, not copied from the paper's text.
//
// A candidate captures the other nodes one after the other; its level is the number of those it
// has. Candidates are ordered by (level, identifier). A node that is captured has an owner, and
// remembers the strongest candidate that has come by:
//
//   CAPTURE (l, i)    candidate -> node: candidate i, of level l, wants it. Ignored if a stronger
//                     one has come by; otherwise the node asks its owner, if it has one.
//   CONTEST (l, i)    node -> owner: may i have me? An owner that is stronger by now ignores it;
//                     otherwise it is killed, and
//   RELEASE (l, i)    owner -> node: yes. Ignored if a stronger one has come by since.
//   ACCEPT            node -> candidate: captured; the candidate's level grows by one.
//   LEADER (i)        who has captured all others tells everybody.
//
// Two things the description leaves to the reader, without which the smallest networks go wrong: a
// candidate owns its own node from the beginning (or two nodes capture each other), and what it
// asks itself is settled at once, without a message. A candidate that is ignored simply waits: for
// each that waits or is killed there is a stronger one, so the strongest of all is never stopped.
// The order in which a candidate visits its neighbours is that of its ports.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

#include "conclave/model/message.hpp"
#include "conclave/model/protocol_info.hpp"
#include "conclave/protocols/message/detail/afek_gafni_common.hpp"

namespace conclave::protocols {

class AfekGafniAsync {
 public:
  enum class Kind : std::uint8_t { capture, contest, release, accept, leader };
  static constexpr std::array<std::string_view, 5> kinds{"CAPTURE", "CONTEST", "RELEASE", "ACCEPT",
                                                         "LEADER"};

  using Message = detail::AfekGafniMessage<Kind>;
  using Strength = detail::Strength;
  // Who has captured the node.
  enum class Owner : std::uint8_t { nobody, itself, other };

  struct Node {
    Identifier id = 0;
    std::uint32_t level = 0;            // as a candidate: nodes captured, and the next port to use
    std::uint32_t strongest_level = 0;  // of the strongest candidate that has come by
    Identifier strongest_id = 0;
    Port strongest_port = no_port;
    Port owner_port = no_port;
    Owner owner = Owner::nobody;
    Standing standing = Standing::asleep;
    bool terminated = false;

    friend bool operator==(const Node&, const Node&) = default;
    static constexpr std::tuple fields{Field{"standing", &Node::standing},
                                       Field{"terminated", &Node::terminated},
                                       Field{"id", &Node::id},
                                       Field{"level", &Node::level},
                                       Field{"owner", &Node::owner},
                                       Field{"owner_port", &Node::owner_port},
                                       Field{"strongest_level", &Node::strongest_level},
                                       Field{"strongest_id", &Node::strongest_id},
                                       Field{"strongest_port", &Node::strongest_port}};
  };

  using Parameters = NoParameters;

  static constexpr std::array variables{
      Variable{"standing", "asleep, candidate, retired, elected", "the output"},
      Variable{"level", "0 ... n-1", "of a candidate: how many nodes it has captured"},
      Variable{"owner", "nobody, itself, a port", "of a node: who has captured it"},
      Variable{"strongest", "level, identifier, port", "the strongest candidate that has come by"},
  };
  static constexpr std::array errata{
      Erratum{"R1", "own node",
              "a candidate owns its own node from the beginning; otherwise two nodes that wake "
              "together capture each other and both are elected"},
      Erratum{"R2", "announcement",
              "a node that has captured all informs all: n - 1 messages more, so that all know"},
  };
  static constexpr std::array steps{
      PseudocodeStep{
          "wake-up",
          "the node is a candidate of level 0, owns itself, and wants to capture its first "
          "neighbour"},
      PseudocodeStep{
          "CAPTURE",
          "ignored if a stronger candidate has come by; otherwise the node asks its owner to "
          "let it go, or gives itself at once if it has none"},
      PseudocodeStep{
          "CONTEST",
          "an owner that is stronger by now ignores it; otherwise it is killed and lets the "
          "node go"},
      PseudocodeStep{
          "RELEASE",
          "unless a stronger candidate has come by since, the node gives itself to the one that "
          "asked"},
      PseudocodeStep{
          "ACCEPT",
          "the candidate's level grows by 1; it goes on to the next neighbour, or is elected if "
          "it has all"},
      PseudocodeStep{"LEADER", "the node notes the leader"},
  };
  static constexpr ProtocolInfo info{
      .name = "afek-gafni-async",
      .title =
          "candidates capture nodes one by one: deterministic, O(n log n) messages, any delays",
      .paper = detail::afek_gafni_paper,
      .version = "algorithm A of the version of PODC 1985",
      .network = "complete, asynchronous",
      .convergence = detail::afek_gafni_convergence,
      .bound = "O(n log n) msgs, O(n) time",
      .states = "28 bytes",
      .demo_n = 20'000,
      .smallest_n = 1,
      .variables = variables,
      .observables = {},
      .errata = errata,
      .steps = steps,
  };
  static constexpr bool needs_identifiers = true;

  static std::string objection(const Parameters&, NodeCount) { return {}; }

  AfekGafniAsync(const Parameters&, NodeCount n) : n_(n) {}

  Node asleep(Identifier id) const { return {.id = id}; }

  void on(Node& node, WakeUp, auto& effects, Choice auto&) const {
    if (node.standing != Standing::asleep) return;
    node.standing = Standing::candidate;
    node.owner = Owner::itself;
    node.strongest_id = node.id;
    advance(node, effects);
  }

  void on(Node& node, const Received<Message>& event, auto& effects, Choice auto&) const {
    if (node.terminated) return;
    if (node.standing == Standing::asleep) node.standing = Standing::retired;
    const Strength contender{event.message.level, event.message.id};
    switch (event.message.kind) {
      case Kind::capture:
        return on_capture(node, event.port, contender, effects);
      case Kind::contest:
        if (gives_way(node, contender)) send(effects, event.port, Kind::release, contender);
        return;
      case Kind::release:
        if (contender == strongest(node)) hand_over(node, effects);
        return;
      case Kind::accept:
        if (node.standing != Standing::candidate) return;
        ++node.level;
        return advance(node, effects);
      case Kind::leader:
        node.standing = Standing::retired;
        node.strongest_id = contender.id;
        node.terminated = true;
    }
  }

  NodeView view(const Node& node) const {
    const bool is_candidate = node.standing == Standing::candidate;
    return {.standing = node.standing,
            .is_informed = node.terminated,
            .phase = node.level,
            .rank = 0,
            .id = node.id,
            .awaited = is_candidate ? 1u : 0u};
  }

  bool follows(const Node& node, const Node& leader) const {
    return node.strongest_id == leader.id;
  }

  std::uint32_t bits(const Message& message) const {
    const auto number_bits = static_cast<std::uint32_t>(std::bit_width(n_));
    return 3 + (message.id == 0 ? 0 : number_bits) + (message.level == 0 ? 0 : number_bits);
  }

 private:
  static Strength own(const Node& node) { return {node.level, node.id}; }
  static Strength strongest(const Node& node) { return {node.strongest_level, node.strongest_id}; }
  static void send(auto& effects, Port port, Kind kind, const Strength& strength) {
    effects.send(port, Message{kind, strength.level, strength.id});
  }

  // As a candidate: on to the next neighbour, or elected.
  void advance(Node& node, auto& effects) const {
    if (node.level + 1 < n_) return send(effects, node.level, Kind::capture, own(node));
    node.standing = Standing::elected;
    node.strongest_id = node.id;
    node.terminated = true;
    if (n_ > 1) effects.broadcast(Message{Kind::leader, 0, node.id});
  }

  // As a captured or free node.
  void on_capture(Node& node, Port port, const Strength& contender, auto& effects) const {
    const bool is_stronger = node.owner == Owner::nobody || contender > strongest(node);
    if (!is_stronger) return;
    node.strongest_level = contender.level;
    node.strongest_id = contender.id;
    node.strongest_port = port;
    if (node.owner == Owner::other) {
      return send(effects, node.owner_port, Kind::contest, contender);
    }
    if (node.owner == Owner::nobody || gives_way(node, contender)) hand_over(node, effects);
  }

  // As an owner: false if it is stronger than the contender, otherwise it is killed.
  static bool gives_way(Node& node, const Strength& contender) {
    if (own(node) > contender) return false;
    node.standing = Standing::retired;
    return true;
  }

  static void hand_over(Node& node, auto& effects) {
    node.owner = Owner::other;
    node.owner_port = node.strongest_port;
    effects.send(node.owner_port, Message{Kind::accept, 0, 0});
  }

  NodeCount n_;
};
static_assert(AsynchronousProtocol<AfekGafniAsync>);

}  // namespace conclave::protocols
