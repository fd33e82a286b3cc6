// Afek, Gafni: Time and message bounds for election in synchronous and asynchronous complete
// networks. SIAM Journal on Computing 20(2), 1991. The synchronous algorithm, O(c n log_c n)
// messages and O(log_c n) rounds; written after its well-known description, not copied from the
// paper's text.
//
// A candidate captures other nodes in steps of two rounds: 1 in the first step, c in the next, then
// c^2, and so on. Its level is its age in rounds, so that candidates are ordered by (age,
// identifier), and a node, by counting rounds, knows the present level of its owner.
//
//   CAPTURE (l, i)    to the next c^k neighbours. Of all that reach a node in a round it looks at
//                     the strongest only, and gives itself to it if it is stronger than its owner:
//   ACCEPT            the answer. A candidate that gets fewer than it asked for retires.
//   LEADER (i)        who has captured all others tells everybody.
//
// The strongest of all, the highest identifier among those woken first, is never refused. Two
// things the description leaves to the reader: a candidate owns its own node from its first round
// on (or two nodes capture each other), and levels are compared as of the round of sending. The
// order in which a candidate visits its neighbours is that of its ports.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "conclave/model/message.hpp"
#include "conclave/model/protocol_info.hpp"
#include "conclave/protocols/message/detail/afek_gafni_common.hpp"

namespace conclave::protocols {

class AfekGafniSync {
 public:
  enum class Kind : std::uint8_t { capture, accept, leader };
  static constexpr std::array<std::string_view, 3> kinds{"CAPTURE", "ACCEPT", "LEADER"};

  using Message = detail::AfekGafniMessage<Kind>;
  using Strength = detail::Strength;

  struct Node {
    Identifier id = 0;
    std::uint32_t age = 0;    // as a candidate: rounds since it was woken
    std::uint32_t asked = 0;  // neighbours in this step
    Port next = 0;            // the first neighbour it has not asked yet
    std::uint32_t owner_level = 0;
    Identifier owner_id = 0;  // 0: none; of a node that knows the leader: the leader
    Standing standing = Standing::asleep;
    bool terminated = false;

    friend bool operator==(const Node&, const Node&) = default;
    static constexpr std::tuple fields{Field{"standing", &Node::standing},
                                       Field{"terminated", &Node::terminated},
                                       Field{"id", &Node::id},
                                       Field{"age", &Node::age},
                                       Field{"asked", &Node::asked},
                                       Field{"next", &Node::next},
                                       Field{"owner_id", &Node::owner_id},
                                       Field{"owner_level", &Node::owner_level}};
  };

  struct Parameters {
    std::optional<std::uint64_t> c{};

    static constexpr std::tuple fields{Parameter{
        "c", &Parameters::c, "how many times more nodes each step captures", "2", 2, 1u << 31}};
  };

  static constexpr std::array variables{
      Variable{"standing", "asleep, candidate, retired, elected", "the output"},
      Variable{"age", "0 ...", "of a candidate: rounds since it was woken, its level"},
      Variable{"asked, next", "0 ... n-1", "of a candidate: neighbours asked now, and before"},
      Variable{"owner", "level, identifier", "of a node: who has captured it"},
  };
  static constexpr std::array errata{
      Erratum{"R1", "own node",
              "a candidate owns its own node from its first round on; otherwise two nodes that "
              "wake together capture each other and both are elected"},
      Erratum{"R2", "announcement",
              "a node that has captured all informs all: n - 1 messages and a round more"},
  };
  static constexpr std::array steps{
      PseudocodeStep{"wake-up", "the node is a candidate and owns itself"},
      PseudocodeStep{
          "CAPTURE",
          "of all that arrive in a round the node considers the strongest, and gives itself to "
          "it if that is stronger than its owner"},
      PseudocodeStep{"ACCEPT",
                     "a candidate that gets as many as it asked for goes on with c times as many "
                     "neighbours; otherwise it retires; with all others captured it is elected"},
      PseudocodeStep{"LEADER", "the node notes the leader"},
  };
  static constexpr ProtocolInfo info{
      .name = "afek-gafni-sync",
      .title = "candidates capture nodes in doubling numbers: deterministic, O(log n) rounds",
      .paper = detail::afek_gafni_paper,
      .version = "the synchronous algorithm of the version of PODC 1985",
      .network = "complete, synchronous",
      .convergence = detail::afek_gafni_convergence,
      .bound = "O(n log n) msgs, O(log n) time",
      .states = "28 bytes",
      .demo_n = 100'000,
      .smallest_n = 1,
      .variables = variables,
      .observables = {},
      .errata = errata,
      .steps = steps,
  };
  static constexpr bool needs_identifiers = true;

  static std::string objection(const Parameters&, NodeCount) { return {}; }

  AfekGafniSync(const Parameters& parameters, NodeCount n) : n_(n), c_(parameters.c.value_or(2)) {}

  // Two per step, and one for the announcement.
  std::uint32_t most_rounds() const {
    std::uint32_t rounds = 1;
    for (NodeCount captured = 0; captured + 1 < n_; rounds += 2) {
      captured += in_step(rounds / 2, n_ - 1 - captured);
    }
    return rounds;
  }

  Node asleep(Identifier id) const { return {.id = id}; }

  void on(Node& node, WakeUp, auto&, Choice auto&) const {
    if (node.standing == Standing::asleep) node.standing = Standing::candidate;
  }

  void on(Node& node, const Round<Message>& round, auto& effects, Choice auto&) const {
    if (node.standing == Standing::asleep) node.standing = Standing::retired;
    if (node.terminated) return;
    const Found found = look_through(round);
    if (found.leader != 0) return learn(node, found.leader);
    serve(node, found, effects);
    if (node.standing == Standing::candidate) run_for_leader(node, found.accepts, effects);
  }

  NodeView view(const Node& node) const {
    return {.standing = node.standing,
            .is_informed = node.terminated,
            .phase = node.age == 0 ? 0u : (node.age + 1) / 2,
            .rank = 0,
            .id = node.id,
            .awaited = 0};
  }

  bool follows(const Node& node, const Node& leader) const { return node.owner_id == leader.id; }

  std::uint32_t bits(const Message& message) const {
    const auto id_bits = static_cast<std::uint32_t>(std::bit_width(n_));
    const auto level_bits = static_cast<std::uint32_t>(std::bit_width(message.level));
    return 2 + (message.id == 0 ? 0 : id_bits) + level_bits;
  }

 private:
  struct Found {
    std::uint32_t accepts = 0;
    Strength contender{};  // the strongest that wants to capture the node
    Port port = no_port;   // where it is
    Identifier leader = 0;
  };

  static Found look_through(const Round<Message>& round) {
    Found found;
    for (const auto& [port, message] : round.inbox) {
      const Strength strength{message.level, message.id};
      if (message.kind == Kind::accept) ++found.accepts;
      if (message.kind == Kind::leader) found.leader = message.id;
      if (message.kind != Kind::capture || strength < found.contender) continue;
      found.contender = strength;
      found.port = port;
    }
    return found;
  }

  static void learn(Node& node, Identifier leader) {
    node.standing = leader == node.id ? Standing::elected : Standing::retired;
    node.owner_id = leader;
    node.terminated = true;
  }

  // As a captured or free node. The level of its owner grows with every round.
  static void serve(Node& node, const Found& found, auto& effects) {
    const Strength owner{node.owner_level, node.owner_id};
    if (found.port != no_port && (node.owner_id == 0 || found.contender > owner)) {
      node.owner_level = found.contender.level;
      node.owner_id = found.contender.id;
      effects.send(found.port, Message{Kind::accept, 0, 0});
    }
    ++node.owner_level;
  }

  void run_for_leader(Node& node, std::uint32_t accepts, auto& effects) const {
    if (node.age == 0 && node.owner_id == 0) {
      node.owner_id = node.id;
      node.owner_level = 0;
    }
    if (node.age % 2 == 0) {
      if (accepts < node.asked) {
        node.standing = Standing::retired;
        return;
      }
      if (node.next + 1 == n_) return announce(node, effects);
      capture(node, effects);
    }
    ++node.age;
  }

  NodeCount in_step(std::uint32_t step, NodeCount left) const {
    NodeCount count = 1;
    for (std::uint32_t i = 0; i < step && count < left; ++i) count *= c_;
    return std::min(count, left);
  }

  void capture(Node& node, auto& effects) const {
    node.asked = static_cast<std::uint32_t>(in_step(node.age / 2, n_ - 1 - node.next));
    for (std::uint32_t i = 0; i < node.asked; ++i) {
      effects.send(node.next++, Message{Kind::capture, node.age, node.id});
    }
  }

  void announce(Node& node, auto& effects) const {
    learn(node, node.id);
    if (n_ > 1) effects.broadcast(Message{Kind::leader, 0, node.id});
  }

  NodeCount n_;
  NodeCount c_;
};
static_assert(SynchronousProtocol<AfekGafniSync>);

}  // namespace conclave::protocols
