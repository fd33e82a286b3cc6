// Itai, Rodeh: Symmetry breaking in distributed networks. FOCS 1981; Information and Computation
// 88, 1990. Election on anonymous directed rings of known size, as Tel and as Fokkink and Pang
// retell it; written from general knowledge of that.
//
// An active node draws one of a few identifiers and sends it round. Tokens meet the other active
// nodes: the higher (round, identifier) survives, and an equal one is marked. A token that has made
// n hops is at home. If it is unmarked, no other node has drawn the same, and its owner is elected;
// otherwise all who have drawn the highest draw again.
//
//   TOKEN (i, r, h, marked)    identifier, round, hops made, whether an equal one was met
//   LEADER                     once round, when everything is decided
//
// On FIFO edges a token of an older round never meets an active node, so that round numbers may be
// counted modulo 2 (rounds=2) or left out (rounds=1: Fokkink and Pang's algorithm A), with the same
// law. Their algorithm B (reading=fokkink-pang-b) does without marks, too: a node that meets its
// own identifier early drops the token and draws again at once.
#pragma once

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

// Whose algorithm: the parameter `reading`.
enum class ItaiRodehReading : std::uint8_t { itai_rodeh, fokkink_pang_b };

class ItaiRodeh {
 public:
  using Reading = ItaiRodehReading;
  enum class Kind : std::uint8_t { token, leader };
  static constexpr std::array<std::string_view, 2> kinds{"TOKEN", "LEADER"};

  struct Message {
    Kind kind = Kind::token;
    bool is_marked = false;
    std::uint32_t hops = 0;
    std::uint32_t drawn = 0;
    std::uint32_t round = 0;

    friend bool operator==(const Message&, const Message&) = default;
    static constexpr std::tuple fields{
        Field{"kind", &Message::kind}, Field{"marked", &Message::is_marked},
        Field{"hops", &Message::hops}, Field{"drawn", &Message::drawn},
        Field{"round", &Message::round}};
  };

  struct Node {
    std::uint32_t drawn = 0;  // as an active node: the identifier of this round
    std::uint32_t round = 0;
    Standing standing = Standing::asleep;  // an active node is a candidate
    bool is_informed = false;

    friend bool operator==(const Node&, const Node&) = default;
    static constexpr std::tuple fields{Field{"standing", &Node::standing},
                                       Field{"drawn", &Node::drawn}, Field{"round", &Node::round},
                                       Field{"is_informed", &Node::is_informed}};
  };

  struct Parameters {
    Reading reading = Reading::itai_rodeh;
    std::optional<std::uint64_t> identifiers{};
    std::optional<std::uint64_t> round_numbers{};

    static constexpr std::tuple fields{
        Parameter{"reading", &Parameters::reading, "whose algorithm", "itai-rodeh"},
        Parameter{"identifiers", &Parameters::identifiers, "how many there are to draw from", "n",
                  2, 0xffffffff},
        Parameter{"rounds", &Parameters::round_numbers,
                  "how many round numbers there are; 0: one for every round", "0", 0, 1u << 31}};
  };

  static constexpr std::array variables{
      Variable{"standing", "asleep, candidate, retired, elected",
               "candidate: active; retired: passes tokens on"},
      Variable{"drawn", "1 ... identifiers", "of an active node: the identifier of this round"},
      Variable{"round", "0 ... rounds - 1, or without end", "of an active node"},
  };
  static constexpr std::array errata{
      Erratum{"R1", "announcement", detail::ring_announcement},
      Erratum{"R2", "sleepers", detail::ring_sleepers},
      Erratum{"R3", "version",
              "the papers also have a variant that sends bits, on which a well-known case study of "
              "model checking is based, and one of 2.4417 n bits in the mean: other algorithms"},
  };
  static constexpr std::array steps{
      PseudocodeStep{"wake-up",
                     "the node is active: it draws an identifier and sends a token round"},
      PseudocodeStep{
          "TOKEN",
          "an active node drops it if it is weaker than its own, gives up if it is stronger, "
          "and marks it if they are equal; one that comes home unmarked makes its owner the "
          "leader, a marked one makes it draw again"},
      PseudocodeStep{"LEADER", "the node knows that there is a leader and passes the message on"},
  };
  static constexpr ProtocolInfo info{
      .name = "itai-rodeh",
      .title =
          "anonymous ring of known size: draw identifiers, and draw again where the highest tie",
      .paper = "A. Itai, M. Rodeh: Symmetry breaking in distributed networks. Information and "
               "Computation 88(1), 1990",
      .source = Source::reconstructed,
      .version = "as retold by G. Tel and by W. Fokkink, J. Pang, from general knowledge",
      .network = "directed ring, asynchronous",
      .convergence = detail::ring_convergence,
      .bound = "O(n log n) msgs, O(n) time",
      .states = "12 bytes",
      .demo_n = 20'000,
      .smallest_n = 2,
      .variables = variables,
      .observables = {},
      .errata = errata,
      .steps = steps,
  };
  static constexpr Topology topology = Topology::directed_ring;
  static constexpr bool is_anonymous = true;
  static constexpr bool draws_again = true;

  static std::string objection(const Parameters&, NodeCount) { return {}; }

  ItaiRodeh(const Parameters& parameters, NodeCount n)
      : reading_(parameters.reading),
        n_(static_cast<std::uint32_t>(n)),
        identifiers_(static_cast<std::uint32_t>(parameters.identifiers.value_or(n))),
        round_numbers_(static_cast<std::uint32_t>(parameters.round_numbers.value_or(0))) {}

  Node asleep(Identifier) const { return {}; }

  void on(Node& node, WakeUp, auto& effects, Choice auto& choice) const {
    if (node.standing != Standing::asleep) return;
    node.standing = Standing::candidate;
    draw(node, effects, choice);
  }

  void on(Node& node, const Received<Message>& event, auto& effects, Choice auto& choice) const {
    if (node.is_informed) return;
    if (node.standing == Standing::asleep) node.standing = Standing::retired;
    const Message& message = event.message;
    if (message.kind == Kind::leader) {
      node.standing = Standing::retired;
      node.is_informed = true;
      return effects.send(onwards, message);
    }
    if (node.standing == Standing::retired) return pass(message, false, effects);
    if (message.hops == n_) return come_home(node, message, effects, choice);
    meet(node, message, effects, choice);
  }

  NodeView view(const Node& node) const {
    const bool is_awake = node.standing != Standing::asleep;
    return {.standing = node.standing,
            .is_informed = node.is_informed,
            .phase = is_awake ? 1 + (round_numbers_ == 0 ? node.round : 0) : 0,
            .rank = node.drawn,
            .id = 0,
            .awaited = node.standing == Standing::candidate ? 1u : 0u};
  }

  std::uint32_t bits(const Message& message) const {
    if (message.kind == Kind::leader) return 1;
    return 2 + detail::identifier_bits(n_) + detail::identifier_bits(identifiers_) +
           (message.round == 0 ? 0 : detail::identifier_bits(message.round));
  }

 private:
  static constexpr Port onwards = 0;

  void draw(Node& node, auto& effects, Choice auto& choice) const {
    node.drawn = 1 + choice.below(identifiers_);
    effects.send(onwards, Message{Kind::token, false, 1, node.drawn, node.round});
  }

  static void pass(Message token, bool is_equal, auto& effects) {
    ++token.hops;
    token.is_marked = token.is_marked || is_equal;
    effects.send(onwards, token);
  }

  // The node's own token is back.
  void come_home(Node& node, const Message& token, auto& effects, Choice auto& choice) const {
    if (token.is_marked) {
      node.round = round_numbers_ == 0 ? node.round + 1 : (node.round + 1) % round_numbers_;
      return draw(node, effects, choice);
    }
    node.standing = Standing::elected;
    node.is_informed = true;
    effects.send(onwards, Message{Kind::leader, false, 0, 0, 0});
  }

  // As an active node, another one's token.
  void meet(Node& node, const Message& token, auto& effects, Choice auto& choice) const {
    const bool is_equal = token.round == node.round && token.drawn == node.drawn;
    if (is_equal && reading_ == Reading::fokkink_pang_b) return draw(node, effects, choice);
    if (!is_equal && !is_higher(token, node)) return;
    if (!is_equal) node.standing = Standing::retired;
    pass(token, is_equal, effects);
  }

  // Where round numbers come again, another one is the next one.
  bool is_higher(const Message& token, const Node& node) const {
    if (token.round == node.round) return token.drawn > node.drawn;
    return round_numbers_ > 0 || token.round > node.round;
  }

  Reading reading_;
  std::uint32_t n_;
  std::uint32_t identifiers_;
  std::uint32_t round_numbers_;
};
static_assert(AsynchronousProtocol<ItaiRodeh>);

}  // namespace conclave::protocols

template <>
inline constexpr std::array<std::string_view, 2>
    conclave::names_of<conclave::protocols::ItaiRodehReading>{"itai-rodeh", "fokkink-pang-b"};
