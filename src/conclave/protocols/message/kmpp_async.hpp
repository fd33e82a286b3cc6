// Kutten, Moses, Pandurangan, Peleg: Singularly Optimal Randomized Leader Election. DISC 2020.
// Section 2, the asynchronous algorithm; "Alg" and "line" numbers are those of the paper.
//
// A node that is woken draws a rank and is a candidate: in phase after phase it asks a set of
// random referees, twice as many each time and all nodes in the last phase, for their approval. A
// referee stands by one candidate, its chosen. When a candidate that is ahead of it asks, the
// referee lets the chosen, which may have come further meanwhile, decide between the two.
//
//   RANK, PH        position   of a candidate; compared by phase, then rank, then identifier
//   CAND-STATE      standing
//   REF-STATE       referee    C0 nobody has asked yet, C1 one chosen, C2 the chosen decides about
//                              the contender, C3 about a predecessor of the contender
//   S, K            referees(i), last_phase()
//
// The file is long because it lists the paper's errata beside the algorithm, for `describe`. Where
// the printed text does not work the reading `corrected` differs from it (errata-kmpp.md); the
// other readings keep one mistake each, so that it can be seen at work.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "conclave/base/check.hpp"
#include "conclave/base/whole_numbers.hpp"
#include "conclave/model/message.hpp"
#include "conclave/model/protocol_info.hpp"
#include "conclave/protocols/message/detail/kmpp_common.hpp"

namespace conclave::protocols {

// `printed`: Alg 3 lines 5-6, the chosen's new request is recorded and not answered.
// `chosen_in_c1`: whether the sender is the chosen is checked in state C1 only.
// `by_rank`: the chosen is recognized by its rank (and identifier) instead of by its port.
// `not_own_referee`: a candidate does not ask itself.
enum class KmppReading : std::uint8_t {
  corrected,
  printed,
  chosen_in_c1,
  by_rank,
  not_own_referee,
};

// The parameter `watch`: whether candidates are counted by phase.
enum class KmppWatch : std::uint8_t { no, yes };

class KmppAsync {
 public:
  using Reading = KmppReading;
  enum class Kind : std::uint8_t { request, approved, declined, decide, wins, loses, leader };
  static constexpr std::array<std::string_view, 7> kinds{
      "REQUEST", "APPROVED", "DECLINED", "DECIDE", "WINS", "LOSES", "LEADER"};

  // A request, a DECIDE and LEADER carry the position of the candidate they speak of. Answers to a
  // candidate carry its phase. WINS and LOSES tell what became of the contender, with the phase of
  // the chosen that decided; whoever receives one knows the ranks.
  struct Message {
    Kind kind = Kind::request;
    std::uint8_t phase = 0;
    Identifier id = 0;
    std::uint64_t rank = 0;

    friend bool operator==(const Message&, const Message&) = default;
    static constexpr std::tuple fields{Field{"kind", &Message::kind},
                                       Field{"phase", &Message::phase}, Field{"id", &Message::id},
                                       Field{"rank", &Message::rank}};
  };

  struct Position {
    std::uint8_t phase = 0;
    std::uint64_t rank = 0;
    Identifier id = 0;

    // Whether it is behind. Written out to be inlined by force: every request asks this.
    [[gnu::always_inline]] friend bool operator<(const Position& left, const Position& right) {
      if (left.phase != right.phase) return left.phase < right.phase;
      return left.rank != right.rank ? left.rank < right.rank : left.id < right.id;
    }
  };

  // The states C0 ... C3 of a referee, the paper's REF-STATE.
  enum class Referee : std::uint8_t { c0, c1, c2, c3 };

  // Flat, because ten million of them are kept: 56 bytes.
  struct Node {
    std::uint64_t rank = 0;
    std::uint64_t chosen_rank = 0;
    std::uint64_t contender_rank = 0;
    Identifier id = 0;
    Identifier chosen_id = 0;
    Identifier contender_id = 0;
    Port chosen_port = no_port;  // no_port: the node itself
    Port contender_port = no_port;
    std::uint32_t awaited = 0;  // answers of referees
    std::uint8_t phase = 0;
    std::uint8_t chosen_phase = 0;
    std::uint8_t contender_phase = 0;
    Standing standing = Standing::asleep;
    Referee referee = Referee::c0;
    bool declined = false;    // by some referee of this phase
    bool terminated = false;  // elected, or LEADER was received: the chosen is then the leader

    friend bool operator==(const Node&, const Node&) = default;
    static constexpr std::tuple fields{Field{"standing", &Node::standing},
                                       Field{"terminated", &Node::terminated},
                                       Field{"rank", &Node::rank},
                                       Field{"id", &Node::id},
                                       Field{"phase", &Node::phase},
                                       Field{"awaited", &Node::awaited},
                                       Field{"declined", &Node::declined},
                                       Field{"referee", &Node::referee},
                                       Field{"chosen_port", &Node::chosen_port},
                                       Field{"chosen_phase", &Node::chosen_phase},
                                       Field{"chosen_rank", &Node::chosen_rank},
                                       Field{"chosen_id", &Node::chosen_id},
                                       Field{"contender_port", &Node::contender_port},
                                       Field{"contender_phase", &Node::contender_phase},
                                       Field{"contender_rank", &Node::contender_rank},
                                       Field{"contender_id", &Node::contender_id}};
  };
  static_assert(sizeof(Node) == 56);

  struct Parameters {
    Reading reading = Reading::corrected;
    std::optional<std::uint64_t> phases{};
    std::optional<std::uint64_t> referees{};
    std::optional<std::uint64_t> ranks{};
    KmppWatch watch = KmppWatch::no;

    static constexpr std::tuple fields{
        Parameter{"reading", &Parameters::reading, "how the paper is read; see the errata",
                  "corrected"},
        Parameter{"phases", &Parameters::phases, "K, for toy networks", "as in the paper", 1, 64},
        Parameter{"referees", &Parameters::referees,
                  "most referees asked before the last phase, for toy networks", "as in the paper",
                  1, 1u << 31},
        Parameter{"ranks", &Parameters::ranks, "number of different ranks, for toy networks", "n^4",
                  1, UINT64_MAX},
        Parameter{"watch", &Parameters::watch,
                  "1: rows contain how many candidates have taken part in each phase", "0"}};
  };

  static constexpr std::array variables{
      Variable{"CAND-STATE", "asleep, Candidate, Non-elected, Elected", "here: standing"},
      Variable{"RANK", "1 ... min(n^4, 2^64 - 1)", "of a candidate, drawn when it is woken"},
      Variable{"PH", "1 ... K", "phase of a candidate"},
      Variable{"REF-STATE", "C0 ... C3", "what it knows as a referee"},
      Variable{"Chosen", "port, position", "the candidate it has approved last"},
      Variable{"Contender", "port, position", "C2, C3: the candidate that waits for a decision"},
  };
  static constexpr std::array errata{
      Erratum{
          "F1", "Alg 3 lines 5-6",
          "a chosen candidate that asks again is recorded but not answered, and waits for ever, in "
          "phase K at the latest; here it is approved (reading=printed keeps the mistake)"},
      Erratum{"F2", "Section 2, C1",
              "whether the sender is the chosen is asked first in C1, C2 and C3, as in Alg 3; the "
              "prose asks in C1 only, where a candidate can dispute with itself "
              "(reading=chosen-in-c1)"},
      Erratum{"F3", "Alg 3 line 5",
              "the chosen is recognized by its port; by rank, two anonymous candidates with equal "
              "ranks can both be elected (reading=by-rank)"},
      Erratum{
          "F4", "footnote 9",
          "a candidate is its own referee in every phase, by a local step; without it two nodes "
          "elect two leaders (reading=not-own-referee)"},
      Erratum{"F5", "Alg 1 line 6",
              "n^4 exceeds 64 bits from n = 65536; ranks are drawn below 2^64 then, and unique "
              "identifiers break ties"},
      Erratum{
          "F6", "Alg 2 line 3",
          "more referees than neighbours for n <= 20: at most n - 1 are asked, different ones in "
          "a phase, independently in each"},
      Erratum{"C1", "Alg 5, footnote 11",
              "a referee learns the phase of a chosen that has won from its reply; Alg 5 does not "
              "store it, here it is stored"},
      Erratum{"C2", "Section 2", "all logarithms are binary, as Lemma 7 needs; n = 1 has K = 1"},
      Erratum{"C3", "Alg 2 line 9",
              "a declined candidate retires after the last answer of the phase; until then it is a "
              "live candidate and may win disputes"},
      Erratum{"C4", "ties",
              "anonymous candidates in equal positions can retire each other to the last one; then "
              "there is no leader, and the trial does not converge"},
      Erratum{
          "C6", "Lemmas 3, 6-8",
          "the constants of the proofs mean nothing below n of about 10^5; in Lemma 8 a referee "
          "may send one DECIDE per phase of its chosen and a last one; in Lemma 3 a request may "
          "wait six units for its answer, not four"},
  };
  static constexpr std::array steps{
      PseudocodeStep{
          "wake-up",
          "Alg 1 lines 4-7: the node draws a rank, is a candidate, and asks the referees of "
          "phase 1, itself among them (Alg 2 lines 1-6)"},
      PseudocodeStep{
          "REQUEST",
          "Alg 3: a referee without a chosen one chooses the candidate and approves; its chosen "
          "is approved again; one that is behind is declined; one that is ahead becomes the "
          "contender, about whom the chosen is asked to decide"},
      PseudocodeStep{
          "APPROVED",
          "Alg 2 lines 7-15: with the last answer of its phase, a candidate that nobody has "
          "declined begins the next, and after the last one is elected"},
      PseudocodeStep{"DECLINED",
                     "Alg 2 lines 7-10: with the last answer of its phase, the candidate retires"},
      PseudocodeStep{
          "DECIDE",
          "Alg 4: the chosen retires if the contender is ahead of it; the contender wins if the "
          "chosen is no candidate any more, and loses otherwise"},
      PseudocodeStep{"WINS", "Alg 5 lines 2-5: the referee chooses the contender and approves it"},
      PseudocodeStep{
          "LOSES",
          "Alg 5 lines 7-12: the referee declines the contender; if that has taken the place of "
          "another meanwhile and is ahead, it asks the chosen once more"},
      PseudocodeStep{"LEADER", "Alg 1 line 1: the node is not elected, knows the leader and ends"},
  };
  static constexpr ProtocolInfo info{
      .name = "kmpp-async",
      .title = "referees approve candidates in growing numbers: O(n) messages, any delays",
      .paper = detail::kmpp_paper,
      .network = "complete, asynchronous",
      .convergence = detail::kmpp_convergence,
      .bound = "O(n) msgs, O(log^2 n) time",
      .states = "56 bytes",
      .demo_n = 1'000'000,
      .smallest_n = 1,
      .variables = variables,
      .observables = {},
      .errata = errata,
      .steps = steps,
  };
  static constexpr bool is_port_blind = true;

  static std::string objection(const Parameters&, NodeCount) { return {}; }

  KmppAsync(const Parameters& parameters, NodeCount n)
      : reading_(parameters.reading), is_watched_(parameters.watch == KmppWatch::yes), n_(n) {
    // The square root that bounds the number of referees; K = ceil(log2 of it) + 1.
    const double root = std::sqrt(4 * static_cast<double>(n) * binary_logarithm(n));
    const auto referees = static_cast<NodeCount>(std::ceil(root));
    if (n > 1) last_phase_ = static_cast<std::uint8_t>(std::bit_width(referees - 1) + 1);
    most_referees_ = std::min(n - 1, referees);
    most_ranks_ = detail::kmpp_ranks(n);
    if (parameters.phases) last_phase_ = static_cast<std::uint8_t>(*parameters.phases);
    if (parameters.referees) most_referees_ = std::min(most_referees_, *parameters.referees);
    if (parameters.ranks) most_ranks_ = *parameters.ranks;
    answer_bits_ = static_cast<std::uint32_t>(std::bit_width(kinds.size() - 1) +
                                              std::bit_width(unsigned{last_phase_}));
    rank_bits_ = static_cast<std::uint32_t>(std::bit_width(most_ranks_));
    id_bits_ = static_cast<std::uint32_t>(std::bit_width(n_));
  }

  std::uint8_t last_phase() const { return last_phase_; }  // K
  bool is_watched() const { return is_watched_; }

  // |S| in phase i, Alg 2 lines 2-5.
  std::uint32_t referees(unsigned phase) const {
    const NodeCount wanted =
        phase < last_phase_ ? std::min<NodeCount>(10u << phase, most_referees_) : n_ - 1;
    return static_cast<std::uint32_t>(std::min(wanted, n_ - 1));
  }

  Node asleep(Identifier id) const { return {.id = id}; }

  // Alg 1 lines 4-7. A node enters once.
  void on(Node& node, WakeUp, auto& effects, Choice auto& choice) const {
    if (node.standing != Standing::asleep) return;
    node.standing = Standing::candidate;
    node.rank = 1 + below64(choice, most_ranks_);
    begin_phase(node, 1, effects, choice);
  }

  [[gnu::always_inline]] void on(Node& node, const Received<Message>& event, auto& effects,
                                 Choice auto& choice) const {
    if (node.terminated) {
      CONCLAVE_CHECK(expects(node, event.message) || reading_ != Reading::corrected);
      return;
    }
    if (node.standing == Standing::asleep) node.standing = Standing::retired;  // Alg 1 line 9
    handle(node, event, effects, choice);
  }

  // A node that knows the leader is never asked to decide.
  bool expects(const Node& node, const Message& message) const {
    return !node.terminated || message.kind != Kind::decide;
  }

  // Whether `leader` is the leader that this node knows of.
  bool follows(const Node& node, const Node& leader) const {
    return node.chosen_rank == leader.rank && node.chosen_id == leader.id;
  }

  NodeView view(const Node& node) const {
    return {.standing = node.standing,
            .is_informed = node.terminated,
            .phase = node.phase,
            .rank = node.rank,
            .id = node.id,
            .awaited = node.awaited};
  }

  std::uint32_t bits(const Message& message) const {
    if (message.rank == 0) return answer_bits_;
    return answer_bits_ + rank_bits_ + (message.id == 0 ? 0 : id_bits_);
  }

 private:
  static Position own(const Node& node) { return {node.phase, node.rank, node.id}; }
  static Position chosen(const Node& node) {
    return {node.chosen_phase, node.chosen_rank, node.chosen_id};
  }
  static Position contender(const Node& node) {
    return {node.contender_phase, node.contender_rank, node.contender_id};
  }
  static Position position_in(const Message& message) {
    return {message.phase, message.rank, message.id};
  }
  static Message about(Kind kind, const Position& position) {
    return {kind, position.phase, position.id, position.rank};
  }
  static Message answer(Kind kind, std::uint8_t phase) { return {kind, phase, 0, 0}; }

  static void choose(Node& node, Port port, const Position& position) {
    node.chosen_port = port;
    node.chosen_phase = position.phase;
    node.chosen_rank = position.rank;
    node.chosen_id = position.id;
  }
  static void oppose(Node& node, Port port, const Position& position) {
    node.contender_port = port;
    node.contender_phase = position.phase;
    node.contender_rank = position.rank;
    node.contender_id = position.id;
  }

  // A node is its own referee, and then no_port leads to itself: handled at once, never counted.
  [[gnu::always_inline]] void send(Node& node, Port port, const Message& message, auto& effects,
                                   Choice auto& choice) const {
    if (port != no_port) return effects.send(port, message);
    handle_own(node, message, effects, choice);
  }

  [[gnu::noinline]] void handle_own(Node& node, const Message& message, auto& effects,
                                    Choice auto& choice) const {
    handle(node, {no_port, message}, effects, choice);
  }

  [[gnu::always_inline]] void handle(Node& node, const Received<Message>& event, auto& effects,
                                     Choice auto& choice) const {
    const Message& message = event.message;
    switch (message.kind) {
      case Kind::request:
        return on_request(node, event.port, position_in(message), effects, choice);
      case Kind::approved:
      case Kind::declined:
        return on_answer(node, message.kind, effects, choice);
      case Kind::decide:
        return on_decide(node, event.port, position_in(message), effects, choice);
      case Kind::wins:
      case Kind::loses:
        return on_reply(node, message, effects, choice);
      case Kind::leader:
        return on_leader(node, event);
    }
  }

  // Alg 1 line 1.
  void on_leader(Node& node, const Received<Message>& event) const {
    node.standing = Standing::retired;
    choose(node, event.port, position_in(event.message));
    node.terminated = true;
  }

  // Alg 2 lines 1-6.
  void begin_phase(Node& node, unsigned phase, auto& effects, Choice auto& choice) const {
    node.phase = static_cast<std::uint8_t>(phase);
    node.declined = false;
    const bool asks_itself = reading_ != Reading::not_own_referee || n_ == 1;
    node.awaited = referees(phase) + (asks_itself ? 1 : 0);
    const Message request = about(Kind::request, own(node));
    if (phase < last_phase_)
      effects.send_to_some(referees(phase), request, choice);
    else if (n_ > 1)
      effects.broadcast(request);
    if (asks_itself) send(node, no_port, request, effects, choice);
  }

  // Alg 2 lines 7-15.
  [[gnu::always_inline]] void on_answer(Node& node, Kind kind, auto& effects,
                                        Choice auto& choice) const {
    node.declined |= kind == Kind::declined;
    if (--node.awaited > 0) return;  // line 7
    end_phase(node, effects, choice);
  }

  [[gnu::noinline]] void end_phase(Node& node, auto& effects, Choice auto& choice) const {
    if (node.declined) node.standing = Standing::retired;  // lines 9-10
    if (node.standing != Standing::candidate) return;      // lines 11-12
    if (node.phase < last_phase_) return begin_phase(node, node.phase + 1u, effects, choice);
    node.standing = Standing::elected;  // lines 13-15
    node.terminated = true;
    choose(node, no_port, own(node));
    if (n_ > 1) effects.broadcast(about(Kind::leader, {0, node.rank, node.id}));
  }

  bool is_chosen(const Node& node, Port port, const Position& u) const {
    if (reading_ == Reading::chosen_in_c1 && node.referee != Referee::c1) return false;
    if (reading_ == Reading::by_rank) return u.rank == node.chosen_rank && u.id == node.chosen_id;
    return port == node.chosen_port;
  }

  // Alg 3: candidate u, at the other end of `port`, asks for approval.
  [[gnu::always_inline]] void on_request(Node& node, Port port, const Position& u, auto& effects,
                                         Choice auto& choice) const {
    if (node.referee == Referee::c0) {  // lines 1-4
      choose(node, port, u);
      node.referee = Referee::c1;
      return send(node, port, answer(Kind::approved, u.phase), effects, choice);
    }
    if (is_chosen(node, port, u)) {  // lines 5-6
      node.chosen_phase = u.phase;
      // As printed nothing is sent. Only in the last phase is the node itself in S, whose answers
      // it awaits (footnote 9).
      if (reading_ == Reading::printed && (port != no_port || u.phase == last_phase_)) return;
      return send(node, port, answer(Kind::approved, u.phase), effects, choice);
    }
    if (node.referee == Referee::c1) {  // lines 7-13
      if (u < chosen(node))
        return send(node, port, answer(Kind::declined, u.phase), effects, choice);
      oppose(node, port, u);
      node.referee = Referee::c2;
      return send(node, node.chosen_port, about(Kind::decide, u), effects, choice);
    }
    if (u < contender(node)) {  // lines 15-16, 22-23
      return send(node, port, answer(Kind::declined, u.phase), effects, choice);
    }
    const Port refused = node.contender_port;  // lines 17-20, 24-26
    const std::uint8_t refused_phase = node.contender_phase;
    oppose(node, port, u);
    node.referee = Referee::c3;
    send(node, refused, answer(Kind::declined, refused_phase), effects, choice);
  }

  // Alg 4: the chosen of the referee at the other end of `port` decides about contender u. With
  // FIFO edges and candidates that are their own referees, an elected candidate is never asked.
  void on_decide(Node& node, Port port, const Position& u, auto& effects,
                 Choice auto& choice) const {
    if (node.standing == Standing::candidate && own(node) < u) node.standing = Standing::retired;
    const Kind verdict = node.standing == Standing::candidate ? Kind::loses : Kind::wins;
    send(node, port, answer(verdict, node.phase), effects, choice);
  }

  // Alg 5: what the chosen has decided.
  void on_reply(Node& node, const Message& reply, auto& effects, Choice auto& choice) const {
    const Port port = node.contender_port;
    const Position w = contender(node);
    if (reply.kind == Kind::wins) {  // lines 2-5
      choose(node, port, w);
      node.referee = Referee::c1;
      return send(node, port, answer(Kind::approved, w.phase), effects, choice);
    }
    node.chosen_phase = reply.phase;
    if (node.referee == Referee::c2 || w < chosen(node)) {  // lines 7-9
      node.referee = Referee::c1;
      return send(node, port, answer(Kind::declined, w.phase), effects, choice);
    }
    node.referee = Referee::c2;  // lines 10-12
    send(node, node.chosen_port, about(Kind::decide, w), effects, choice);
  }

  Reading reading_;
  bool is_watched_;
  std::uint8_t last_phase_ = 1;
  std::uint32_t answer_bits_;  // kind and phase
  std::uint32_t rank_bits_;
  std::uint32_t id_bits_;
  NodeCount n_;
  NodeCount most_referees_;
  std::uint64_t most_ranks_;
};
static_assert(AsynchronousProtocol<KmppAsync>);
static_assert(PortBlind<KmppAsync>);

}  // namespace conclave::protocols

template <>
inline constexpr std::array<std::string_view, 5>
    conclave::names_of<conclave::protocols::KmppReading>{"corrected", "printed", "chosen-in-c1",
                                                         "by-rank", "not-own-referee"};
template <>
inline constexpr std::array<std::string_view, 2> conclave::names_of<conclave::protocols::KmppWatch>{
    "0", "1"};
